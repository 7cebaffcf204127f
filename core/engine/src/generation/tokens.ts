/** The tokens of the containers. Symbols, so that nothing is resolved by a class. */

/** What the process holds once. */
export const PROCESS = {
  log: Symbol("process.log"),
  metrics: Symbol("process.metrics"),
  clock: Symbol("process.clock"),
  definitions: Symbol("process.definitions"),
  shared: Symbol("process.shared"),
  keyRing: Symbol("process.keyRing"),
  ledger: Symbol("process.ledger"),
  tokens: Symbol("process.tokens"),
  state: Symbol("process.state"),
} as const;

/** What one generation holds. */
export const GENERATION = {
  number: Symbol("generation.number"),
  snapshot: Symbol("generation.snapshot"),
  scope: Symbol("generation.scope"),
  catalog: Symbol("generation.catalog"),
  authority: Symbol("generation.authority"),
  providers: Symbol("generation.providers"),
  guardrails: Symbol("generation.guardrails"),
  hostFor: Symbol("generation.hostFor"),
} as const;
