/** The models of several workers: the configuration of one, and the worst health of each target. */

import type { ModelRow } from "../../http/admin/models/describe.ts";
import type { Values } from "./join-answers.ts";

type Target = ModelRow["targets"][number];
type Health = NonNullable<Target["health"]>;

const HEALTH = { healthy: 0, recovering: 1, ejected: 2 } as const;

/** Joins the pages. The first worker's page is the page: the others add what they think of it. */
export function joinModels(values: Values): unknown {
  const pages = values.map(({ value }) => value["models"] as readonly ModelRow[]);
  const known = new Map<string, Health[]>();
  for (const { deployment, health } of pages.flat().flatMap(({ targets }) => targets))
    if (health !== null) known.set(deployment, [...(known.get(deployment) ?? []), health]);
  const models = (pages[0] ?? []).map((row) => ({
    ...row,
    targets: row.targets.map((target) => ({
      ...target,
      health: worstOf(known.get(target.deployment) ?? []),
    })),
  }));
  return { ...values[0]?.value, models };
}

function worstOf(healths: readonly Health[]): Health | null {
  const worst = healths.toSorted((a, b) => HEALTH[b.health] - HEALTH[a.health])[0];
  if (worst === undefined) return null;
  return {
    health: worst.health,
    held_until: healths.find(({ held_until: until }) => until !== null)?.held_until ?? null,
    credential_refused: healths.some(({ credential_refused: isRefused }) => isRefused),
  };
}
