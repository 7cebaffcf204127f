/** Cold settings: those that an edit cannot change while the process runs. */

import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";

/** A finding for each cold section that differs. */
export function coldChanges(live: Snapshot, candidate: Snapshot): Finding[] {
  const file = candidate.files[0]?.path ?? "";
  const start = { file, line: 1, column: 1 };
  const sections = [
    { name: "server", at: start, before: live.server, after: candidate.server },
    { name: "store", at: candidate.store.at, before: withoutPlace(live.store), after: withoutPlace(candidate.store) },
    { name: "shared", at: candidate.shared.at, before: withoutAt(live.shared), after: withoutAt(candidate.shared) },
    { name: "plugins", at: candidate.plugins[0]?.at ?? start, before: specifiers(live), after: specifiers(candidate) },
  ];
  return sections
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after))
    .map(({ name, at }) => ({
      at,
      message: `The section ${name} cannot change while the gateway runs.`,
      fix: "Restart the gateway to apply it, or undo the edit.",
    }));
}

function withoutPlace({ use, options }: Snapshot["store"]): unknown {
  return { use, options };
}

function withoutAt({ use, options, instances }: Snapshot["shared"]): unknown {
  return { use, options, instances };
}

function specifiers(snapshot: Snapshot): readonly string[] {
  return snapshot.plugins.map(({ specifier }) => specifier);
}
