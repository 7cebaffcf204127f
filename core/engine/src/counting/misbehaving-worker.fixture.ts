/**
 * A worker that does what a text tells it to: counts its characters, throws, dies, loops, or fills
 * the memory.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { CountingJob } from "./worker.ts";
import type { PackedVocabulary } from "./vocabulary.ts";

/** A text that takes this long is one that a test holds the worker with. */
const HOLD_MS = 150;

export default async function work(job: CountingJob): Promise<number | PackedVocabulary> {
  if (job.kind === "vocabulary")
    return { bytes: new Uint8Array([97]), lengths: new Uint8Array([1]) };
  Atomics.store(job.begun, 0, 1);
  const [text = ""] = job.texts;
  if (text.startsWith("throw")) throw new Error("thrown by the fixture");
  if (text.startsWith("die")) process.exit(7);
  if (text.startsWith("hold")) await pause(HOLD_MS);
  for (let turns = 0; text.startsWith("loop");) turns++;
  const filled: number[][] = [];
  while (text.startsWith("fill")) filled.push(Array.from({ length: 100_000 }, (_, index) => index));
  return text.length;
}
