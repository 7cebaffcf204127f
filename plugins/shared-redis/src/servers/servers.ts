/** Where the keys are: one server, or the nodes of a cluster. */

import type { Script } from "../scripts/script.ts";

/** Keys that are decided together: on one server, their names with one prefix. */
export interface Place {
  readonly prefix: string;
  /** The hash slot of the names; 0 where there is one server. */
  readonly slot: number;
}

/** Servers. Calls reject at once while there is no connection. */
export interface Servers {
  /** Whether scripts must declare their keys. */
  readonly isCluster: boolean;
  /** Changes when a server has restarted or another one has taken its keys. */
  readonly life: string;
  /** Begins to connect. Rejects when the first attempt fails; the attempts go on. */
  open(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** The place of a tag. One server has one place. */
  place(tag: string): Place;
  /** The patterns of the names of entries that begin so, for a scan. */
  pattern(begin: string): string;
  /** Runs a script; `keys` are the names that it uses, where they must be declared. */
  run(
    script: Script,
    place: Place,
    keys: readonly string[],
    ...parts: readonly (string | Buffer)[]
  ): Promise<unknown>;
  /** Runs a command about a name at a place. */
  command(place: Place, ...parts: readonly (string | Buffer)[]): Promise<unknown>;
  /** Every name that a pattern finds on any server, page by page. */
  scan(pattern: string): AsyncGenerator<readonly string[]>;
  /** Rejects while a server does not take writes. */
  probe(): Promise<void>;
  /** Calls `report` when a server is lost. */
  watch(report: (reason: Error) => void): void;
}
