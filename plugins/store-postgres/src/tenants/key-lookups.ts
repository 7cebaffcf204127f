/**
 * Look-ups of keys by their digests. Those that come while a question is under way go together in
 * the next one: unknown keys, sent by the thousand, take one connection from the other look-ups,
 * and no queue forms before these.
 */

import type { KeyRecord } from "@sluice/contract";

/** Look-ups in one question. */
const MAX_TOGETHER = 1_000;

interface Asked extends PromiseWithResolvers<KeyRecord | undefined> {
  readonly digests: readonly string[];
}

/** The keys that have one of these digests, now or before. */
type AskTogether = (digests: readonly string[]) => Promise<readonly KeyRecord[]>;

/** Gathers look-ups. */
export class KeyLookups {
  readonly #ask: AskTogether;
  #waiting: Asked[] = [];
  #isUnderWay = false;

  constructor(ask: AskTogether) {
    this.#ask = ask;
  }

  /** The key with one of the digests. The question begins after the call. Rejects as `ask`. */
  find(digest: string, other = digest): Promise<KeyRecord | undefined> {
    const digests = digest === other ? [digest] : [digest, other];
    const asked: Asked = { digests, ...Promise.withResolvers<KeyRecord | undefined>() };
    this.#waiting.push(asked);
    if (!this.#isUnderWay) void this.#send();
    return asked.promise;
  }

  /** Asks until none waits. Never rejects. */
  async #send(): Promise<void> {
    this.#isUnderWay = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting.splice(0, MAX_TOGETHER);
      try {
        // oxlint-disable-next-line no-await-in-loop -- one question after the other.
        settle(together, await this.#ask(together.flatMap(({ digests }) => digests)));
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    this.#isUnderWay = false;
  }
}

function settle(together: readonly Asked[], records: readonly KeyRecord[]): void {
  const byDigest = new Map<string, KeyRecord>();
  // A present digest wins over one from before a rotation.
  for (const record of records)
    if (record.previousDigest !== null) byDigest.set(record.previousDigest, record);
  for (const record of records) byDigest.set(record.digest, record);
  for (const { digests, resolve } of together) {
    const found = digests.find((digest) => byDigest.has(digest));
    resolve(found === undefined ? undefined : byDigest.get(found));
  }
}
