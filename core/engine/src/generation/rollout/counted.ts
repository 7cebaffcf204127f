/** What is counted of the requests of a generation that is watched. */

import type { Attempt, GatewayError, GatewayRequest, Identity, Reply } from "@sluice/contract";

/** What a tally reads of an exchange that is over. */
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
