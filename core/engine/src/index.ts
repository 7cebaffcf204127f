/**
 * @sluice/engine: a gateway in a program of one's own. The command `sluice` is the package
 * @sluice/cli.
 */

export {
  type ConfigObject,
  type EmbeddedGateway,
  type EmbedOptions,
  type GatewayConfig,
  type PipelineConfig,
  startGateway,
} from "./embed.ts";
export { checkConfig, ConfigError, withTests } from "./check-config.ts";
export { formatFinding, type Finding } from "./config/finding.ts";
export type { ApplyResult } from "./generation/rollout/apply.ts";
export type { ConfigPlace } from "./config-place.ts";
export { StartError } from "./resources/installation.ts";
export { createLog, type LogLevel } from "./telemetry/log.ts";
