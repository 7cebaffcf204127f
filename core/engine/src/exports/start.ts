/**
 * @sluice/engine/start: a start in steps, for a process that serves and nothing else. A program
 * that embeds a gateway uses `@sluice/engine`.
 */

export { type RunningGateway, startProcess } from "../bootstrap.ts";
export { SINGLE_PROCESS } from "../http/admin/restart.ts";
export { checkAddresses } from "../open-parts.ts";
export { prepareStart, type Start, type StartOptions } from "../prepare-start.ts";
export { reasonsOf } from "../start-reasons.ts";
