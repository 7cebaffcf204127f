/** Measures requests of the dashboard again and again. */

import { type Goals, quantile } from "../store/goals.ts";
import type { ProofGateway } from "./gateway.ts";

const TIMES = 60;
const MAX_BYTES = 64 * 1_024;
/** A turn of the serving thread. */
const MAX_TURN_MS = 10;

/** Asks each path so often, and holds p95 of each against a goal. */
export async function measurePaths(
  { ask, longestTurnMs }: ProofGateway,
  goals: Goals,
  goalMs: number,
  paths: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [what, path] of Object.entries(paths)) {
    const times: number[] = [];
    let bytes = 0;
    // The first answers fill caches.
    for (let time = -3; time < TIMES; time += 1) {
      if (time === 0) await longestTurnMs();
      const answer = await ask(path);
      if (answer.status !== 200)
        throw new Error(`GET ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      if (time >= 0) times.push(answer.ms);
      bytes = Math.max(bytes, answer.bytes);
    }
    goals.atMost(`${what}, p95`, quantile(times, 0.95), goalMs, "ms");
    console.log(`      p50 ${quantile(times, 0.5).toFixed(1)} ms`);
    goals.atMost(`${what}, the answer`, bytes, MAX_BYTES, "bytes");
    goals.atMost(`${what}, the longest turn`, await longestTurnMs(), MAX_TURN_MS, "ms of CPU");
  }
}
