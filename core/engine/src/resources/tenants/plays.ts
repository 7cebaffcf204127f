/**
 * Credentials of single requests: the playground sends a request as a key whose secret the gateway
 * does not know.
 */

import { randomBytes } from "node:crypto";
import { GatewayError, type KeyRecord } from "@sluice/contract";

/** Whom a request is sent as. */
export type Played =
  | { readonly kind: "master" }
  /** A key of the configuration, by its id. */
  | { readonly kind: "declared"; readonly keyId: string }
  | { readonly kind: "stored"; readonly record: KeyRecord };

/** Requests of the playground that have not been authenticated yet. */
const MAX_OPEN = 100;

/** The open credentials of a process. Each is good for one look-up in it. */
export class Plays {
  readonly #open = new Map<string, Played>();

  /** A credential. Throws `overloaded` when too many are open. */
  open(played: Played): string {
    if (this.#open.size >= MAX_OPEN)
      throw new GatewayError(
        "overloaded",
        `The playground has ${MAX_OPEN} requests that begin. Retry in a second.`,
        { retryAfterMs: 1_000 },
      );
    const credential = randomBytes(32).toString("base64url");
    this.#open.set(credential, played);
    return credential;
  }

  /** Whom a credential stands for; `undefined` for every other text. It is used up. */
  take(presented: string): Played | undefined {
    if (this.#open.size === 0) return undefined;
    const played = this.#open.get(presented);
    if (played !== undefined) this.#open.delete(presented);
    return played;
  }

  /** Ends a credential that was not used. */
  close(credential: string): void {
    this.#open.delete(credential);
  }
}
