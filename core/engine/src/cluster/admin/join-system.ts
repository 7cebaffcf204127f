/** The system of several workers: each process, and what is wrong anywhere. */

import type { SystemAnswer } from "../../http/admin/system/routes.ts";
import type { Values } from "./join-answers.ts";

/** Joins the answers. */
export function joinSystem(values: Values): unknown {
  const answers = values.map(({ value }) => value as unknown as SystemAnswer);
  const [first] = answers;
  if (first === undefined) return {};
  const blocks = new Map<string, SystemAnswer["blocks"][number]>();
  for (const block of answers.flatMap((answer) => answer.blocks)) {
    const other = blocks.get(block.plugin);
    blocks.set(block.plugin, {
      plugin: block.plugin,
      count: block.count + (other?.count ?? 0),
      total_ms: block.total_ms + (other?.total_ms ?? 0),
    });
  }
  const ages = answers.flatMap(({ store }) => store.changes_age_ms ?? []);
  const faults = answers.flatMap(({ store }) => store.fault ?? []);
  return {
    ...first,
    processes: answers.flatMap(({ processes }) => processes),
    store: {
      ...first.store,
      away: answers.some(({ store }) => store.away),
      changes_age_ms: ages.length === 0 ? null : Math.max(...ages),
      writable: answers.every(({ store }) => store.writable),
      fault: faults[0] ?? null,
    },
    shared: { ...first.shared, away: awayOf(answers) },
    blocks: [...blocks.values()].sort((a, b) => b.total_ms - a.total_ms),
  };
}

/** Whether any worker cannot reach the shared state; `null`: it is in memory. */
function awayOf(answers: readonly SystemAnswer[]): boolean | null {
  const known = answers.map(({ shared }) => shared.away).filter((away) => away !== null);
  return known.length === 0 ? null : known.some(Boolean);
}
