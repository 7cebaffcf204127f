/** What a package hands to the contract suite. */

import type { JsonObject } from "@sluice/contract";

/** What the suite needs of a test runner: vitest and `node:test` have it. */
export interface ContractRunner {
  describe(title: string, define: () => void): unknown;
  it(title: string, run: () => void): unknown;
}

/** What a package says of itself to the suite. */
export interface ContractOptions {
  /** The folder of the tables `*.cases.json`: `new URL("../fixtures/", import.meta.url)`. */
  readonly fixtures: URL;
  /** The model that rules and table are tried with. */
  readonly model: string;
  /** Options of the provider. Secrets and defaults are filled in. */
  readonly config?: JsonObject;
  /** The README with the table; absent: the one above the fixtures. `null`: none. */
  readonly readme?: URL | null;
  /**
   * A strict look at every body that the provider makes: throws when its upstream would refuse it.
   */
  checkBody?(body: JsonObject): void;
}
