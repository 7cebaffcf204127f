/** @sluice/engine/telemetry: the log, the clock and the watch of a start. */

export { systemClock } from "../telemetry/clock.ts";
export { createLog, type LogLevel } from "../telemetry/log.ts";
export { watchStart } from "../telemetry/start-watch.ts";
