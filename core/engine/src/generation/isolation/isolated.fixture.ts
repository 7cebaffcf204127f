/** A guardrail that says which thread it runs in, and does what a text tells it to. */

import { threadId } from "node:worker_threads";
import { defineGuardrail } from "@sluice/kit";
import type { Verdict } from "@sluice/contract";

export default defineGuardrail<object>({
  name: "isolated",
  stability: "experimental",
  summary: "Says which thread it runs in.",
  config: { type: "object", properties: {} },
  sample: () => "x",
  create: () => ({
    reach: 7,
    check(text, signal): Verdict | Promise<Verdict> {
      const verdict: Verdict = { kind: "block", reason: `thread-${threadId}` };
      for (const end = performance.now() + (text === "busy" ? 120 : 0); performance.now() < end;);
      while (text.startsWith("loop"));
      if (text !== "wait") return verdict;
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
    },
  }),
});
