/**
 * The rule of providers without a network: they work in the thread that serves, so no step of them
 * may hold it for long.
 */

import { Buffer } from "node:buffer";
import type { JsonObject, Provider, ProviderRequest } from "@sluice/contract";
import { must } from "./fault.ts";
import type { ContractRunner } from "./options.ts";
import { attempted } from "./outcome.ts";
import { withBody } from "./subject.ts";

/** Of the thread's CPU: time in which the machine did other work does not count. */
const MAX_STEP_MS = 20;
/** The first runs compile the code, and a garbage collection may fall into any. */
const RUNS = 5;

const text = (words: number): string => "a ".repeat(words);

/** Requests that are small to send and could be much to answer. */
const LARGE: readonly (JsonObject & { readonly operation: ProviderRequest["operation"] })[] = [
  { operation: "chat", messages: [{ role: "user", content: text(30_000) }] },
  { operation: "chat", messages: [{ role: "user", content: text(1_000_000) }] },
  { operation: "embeddings", input: text(1_000_000), dimensions: 4_096 },
  { operation: "embeddings", input: text(30_000), dimensions: 4_096 },
  { operation: "embeddings", input: text(30_000) },
  { operation: "embeddings", input: Array.from({ length: 2_048 }, () => "a"), dimensions: 4_096 },
  { operation: "embeddings", input: Array.from({ length: 2_048 }, () => "a") },
  { operation: "images", prompt: text(30_000), n: 1_000 },
];

/**
 * Requires that encoding, each piece of the body and decoding take little of the thread's time, or
 * that the request is refused.
 */
export function testLocalWork(
  { it }: Pick<ContractRunner, "it">,
  provider: Provider,
  request: ProviderRequest,
): void {
  it("answers or refuses large requests without holding the thread", () => {
    for (const { operation, ...body } of LARGE) {
      if (!provider.capabilities.operations.includes(operation)) continue;
      const asked = { ...withBody(request, { model: "m", ...body }), operation, stream: false };
      const steps = Array.from({ length: RUNS }, () => longestStepMs(provider, asked));
      const ms = Math.min(...steps);
      must(ms <= MAX_STEP_MS, `A step of ${operation} holds the thread for ${Math.round(ms)} ms.`);
    }
  });
}

/** The longest step of one answer, in milliseconds of CPU. */
function longestStepMs(provider: Provider, request: ProviderRequest): number {
  let longest = 0;
  const timed = <T>(step: () => T): T => {
    const before = process.cpuUsage();
    const result = step();
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    return result;
  };
  const made = attempted(() => timed(() => provider.encode(request)));
  if ("error" in made || made.value.kind !== "local") return longest;
  const pieces = made.value.body[Symbol.iterator]();
  const body: Buffer[] = [];
  for (let next = timed(() => pieces.next()); next.done !== true; next = timed(() => pieces.next()))
    body.push(Buffer.from(next.value));
  const whole = Buffer.concat(body);
  attempted(() => timed(() => provider.decode(whole, request)));
  return longest;
}
