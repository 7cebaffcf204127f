/**
 * Prepares a call for its upstream: adds credentials that change, and encodes a long body in
 * turns.
 */

import { GatewayError, type HttpCall, isGatewayError, type Provider } from "@sluice/contract";
import {
  type Ending,
  type Holder,
  signalOf,
  textPieces,
  TimeLimit,
  unlessAborted,
  nextTurn,
} from "@sluice/kit/internals";

/** The maximum wait for a token service. */
const MAX_WAIT_MS = 10_000;

/**
 * The call with its credentials. Returns the call itself for providers with a constant credential.
 * Rejects with the signal's reason, with `upstream_timeout` when the provider takes longer than 10
 * s, and with `upstream_auth_failed` for any other error.
 */
export function authorize(
  provider: Provider,
  call: HttpCall,
  signal: Ending,
): HttpCall | Promise<HttpCall> {
  return provider.authorize === undefined
    ? call
    : wait(provider.authorize.bind(provider), call, signalOf(signal));
}

async function wait(
  complete: NonNullable<Provider["authorize"]>,
  call: HttpCall,
  outer: AbortSignal,
): Promise<HttpCall> {
  const late = `The provider's credential was not available within ${MAX_WAIT_MS} ms.`;
  const limit = new TimeLimit(outer, MAX_WAIT_MS, () => new GatewayError("upstream_timeout", late));
  const { signal } = limit;
  try {
    return await unlessAborted(Promise.resolve(complete(call, signal)), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw isGatewayError(error)
      ? error
      : new GatewayError(
          "upstream_auth_failed",
          "The provider's credential could not be obtained.",
          { cause: error },
        );
  } finally {
    limit.end();
  }
}

/** Characters of a piece. A megabyte takes some milliseconds. */
const PIECE_CHARACTERS = 1_048_576;

/**
 * The UTF-8 bytes of a long text. A short text is returned unchanged. Rejects with the reason of an
 * ending that comes between two turns.
 */
export function encodeInTurns(text: string, ending: Ending): string | Promise<Uint8Array> {
  return text.length <= PIECE_CHARACTERS ? text : encode(text, ending);
}

async function encode(text: string, ending: Ending): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(await byteLengthInTurns(text, ending));
  let written = 0;
  for (const piece of textPieces(text, PIECE_CHARACTERS)) {
    await nextTurn(ending);
    written += bytes.write(piece, written, "utf8");
  }
  await nextTurn(ending);
  return bytes;
}

/** The UTF-8 length of a long text. `ending`, `holder`: as of `nextTurn`. */
export async function byteLengthInTurns(
  text: string,
  ending?: Ending,
  holder?: Holder,
): Promise<number> {
  let bytes = 0;
  for (const piece of textPieces(text, PIECE_CHARACTERS)) {
    await nextTurn(ending, holder);
    bytes += Buffer.byteLength(piece);
  }
  return bytes;
}
