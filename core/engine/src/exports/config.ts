/**
 * @sluice/engine/config: findings, the snapshot, the schemas and the names of a configuration.
 * Loads no plugin.
 */

export { editorSchemas } from "../config/emit.ts";
export { type Finding, formatFinding } from "../config/finding.ts";
export { UMBRELLA } from "../config/files/found-plugins.ts";
export { usualFolder } from "../config/files/pipeline-files.ts";
export { SHIPPED, SHIPPED_GATEWAY, SHIPPED_PIPELINES } from "../config/files/shipped.ts";
export { openConfig, type OpenedConfig } from "../config/load.ts";
export { serverSchema, type ServerSection } from "../config/schema/server.ts";
export { readOverrides } from "../config/server-overrides.ts";
export type {
  ProviderSettings,
  ServerSettings,
  Snapshot,
  TlsSettings,
} from "../config/snapshot.ts";
export { checkSection } from "../config/validate/section.ts";
export { isWildcard } from "../generation/models.ts";
export {
  type HasName,
  matchesName,
  namesOutsideFiles,
  unknownNames,
} from "../pipeline/steps/condition-names.ts";
