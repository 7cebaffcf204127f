/** What the suite throws: a provider that breaks its contract. */

/**
 * A breach of the contract, in a sentence. Test runners show `expected` and `actual` side by side.
 */
export class ContractFault extends Error {
  readonly expected: unknown;
  readonly actual: unknown;

  constructor(message: string, expected?: unknown, actual?: unknown) {
    super(message);
    this.name = "ContractFault";
    this.expected = expected;
    this.actual = actual;
  }
}

/** Throws unless `condition` holds. */
export function must(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ContractFault(message);
}
