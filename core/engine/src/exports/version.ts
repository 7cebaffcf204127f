/** @sluice/engine/version: the version of the gateway. */

export { VERSION } from "../telemetry/version.ts";
