/** @sluice/engine: start a gateway from code. The command line is `sluice`. */

export { checkConfig, ConfigError, startGateway, type ConfigPlace, type RunningGateway, type StartOptions } from "./bootstrap.ts";
export { formatFinding, type Finding } from "./config/finding.ts";
export { StartError } from "./resources/installation.ts";
export { createLog, type LogLevel } from "./telemetry/log.ts";
