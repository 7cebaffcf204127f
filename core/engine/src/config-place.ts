/** Where a configuration is, and what surrounds it. */

import type { AnyDefinition } from "@sluice/contract";

/** The place of a configuration. */
export interface ConfigPlace {
  readonly path: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where plugins are looked up, as from a gateway file there. Default: `path`. */
  readonly pluginsFrom?: string;
  /** Definitions that a program brings. */
  readonly ownPlugins?: readonly AnyDefinition[];
}
