/** The lint `unkept_reply`: replies that a step would keep, and that the shared state has no room for. */

import type { Doubt, LintSubject } from "./rule.ts";

/** Steps whose largest entries the driver under `shared` does not keep. */
export function unkeptReplies({ snapshot, definitions }: LintSubject): Doubt[] {
  const { use, options } = snapshot.shared;
  const bound = definitions.states.get(use)?.largestEntry?.(options as never) ?? Infinity;
  return snapshot.pipelines.flatMap(({ name, steps }) =>
    steps.flatMap((step): Doubt[] => {
      const wanted = definitions.steps.get(step.use)?.largestEntry?.(step.options as never) ?? 0;
      if (wanted <= bound) return [];
      const message = `Step ${step.use} of pipeline ${name} keeps replies up to ${wanted} bytes, and \`shared\` (${use}) keeps none above ${bound}.`;
      return [
        { at: step.at, message, fix: "Make the step's `max_entry` smaller, or the entries and the size of `shared` larger." },
      ];
    }),
  );
}
