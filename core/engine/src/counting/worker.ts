/** The worker thread of the pool: loads the tables once and counts one job after another. */

import tokens from "#o200k-ranks";
import { createTextCounter } from "./o200k.ts";
import {
  packVocabulary,
  type PackedVocabulary,
  type RawTokens,
  unpackAtOnce,
} from "./vocabulary.ts";

/** What the pool asks for: the tokens of texts, or the vocabulary itself. */
export type CountingJob =
  | {
      readonly kind: "count";
      readonly texts: readonly string[];
      readonly begun: Int32Array<SharedArrayBuffer>;
    }
  | { readonly kind: "vocabulary" };

const packed = packVocabulary(tokens as RawTokens);
const countText = createTextCounter(unpackAtOnce(packed));

/**
 * Does one job. The first of `begun` is set to 1 before anything else: from then on the job itself
 * takes the time.
 */
export default function work(job: CountingJob): number | PackedVocabulary {
  if (job.kind === "vocabulary") return packed;
  Atomics.store(job.begun, 0, 1);
  let total = 0;
  for (const text of job.texts) total += countText(text);
  return total;
}
