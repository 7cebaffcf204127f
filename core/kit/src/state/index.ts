/**
 * @sluice/kit/state: shared state within one process. Drivers, tests, and the engine during an
 * outage of the server use it.
 */

export { tenantState } from "./prefixed.ts";
