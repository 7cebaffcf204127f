/** The lint `unkept_reply`: a step accepts replies that are too large for the shared state. */

import type { LintFinding, LintSubject } from "./rule.ts";

/** Reports steps whose largest entry exceeds the limit of the driver under `shared`. */
export function unkeptReplies({ snapshot, definitions }: LintSubject): LintFinding[] {
  const { use, options } = snapshot.shared;
  const bound = definitions.states.get(use)?.largestEntry?.(options as never) ?? Infinity;
  // A count has no reply that is stored.
  const storing = snapshot.pipelines.filter(({ operation }) => operation !== "tokens");
  return storing.flatMap(({ name, steps }) =>
    steps.flatMap((step): LintFinding[] => {
      const wanted =
        definitions.steps.get(step.use)?.inspect?.(step.options as never).largestEntry ?? 0;
      if (wanted <= bound) return [];
      const message = `Step ${step.use} of pipeline ${name} stores replies of up to ${wanted} bytes, but \`shared\` (${use}) accepts at most ${bound}.`;
      return [
        {
          at: step.at,
          message,
          fix: "Lower the step's `max_entry`, or raise `max_entry` and the size of `shared`.",
        },
      ];
    }),
  );
}
