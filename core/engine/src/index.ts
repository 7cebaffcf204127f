/** @sluice/engine: start a gateway from code. The command line is `sluice`. */

export { type RunningGateway, startGateway } from "./bootstrap.ts";
export type { ConfigPlace, StartOptions } from "./prepare-start.ts";
export { checkConfig, ConfigError, withTests } from "./check-config.ts";
export { formatFinding, type Finding } from "./config/finding.ts";
export { StartError } from "./resources/installation.ts";
export { createLog, type LogLevel } from "./telemetry/log.ts";
