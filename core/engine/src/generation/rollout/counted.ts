/** The counted requests of an observed generation. */

import type { Attempt, GatewayError, GatewayRequest, Identity, Reply } from "@sluice/contract";

/** The members of an ended exchange that a tally reads. */
export interface Counted {
  readonly startedAtMs: number;
  readonly failure: GatewayError | undefined;
  readonly reply: Reply | undefined;
  readonly attempts: readonly Attempt[];
  readonly identity?: Identity | undefined;
  readonly request?: GatewayRequest | undefined;
  readonly signal?: AbortSignal;
}

/** A counter of the requests of a generation as they end. */
export interface Counter {
  add(counted: Counted): void;
}
