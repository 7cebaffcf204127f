/** What a change of the schema is. */

/** One step. It runs in a transaction of its own, on a schema that older gateways still use. */
export interface Migration {
  /** Its number: 1, 2, … without gaps. A released migration is never edited. */
  readonly version: number;
  readonly name: string;
  /** Gateways whose schema version is lower cannot run on the result. */
  readonly oldestThatWorks: number;
  readonly statements: readonly string[];
}
