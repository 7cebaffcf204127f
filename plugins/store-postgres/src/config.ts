/** The options of the store. */

import type { Secret } from "@sluice/contract";
import type { MigrateMode } from "./schema/migrate.ts";

/** The options of the store in YAML. */
export interface PostgresConfig {
  readonly url: Secret;
  readonly read_url?: Secret;
  readonly pooler: "none" | "transaction";
  readonly connections: number;
  readonly migrate: MigrateMode;
}
