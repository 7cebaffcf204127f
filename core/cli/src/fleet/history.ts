/** `sluice history --fleet`: rollouts, and what became of each at every instance. */

import type { JsonObject } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { printTable } from "../print/records.ts";
import { shortOf } from "../print/digest.ts";
import type { FleetRollout } from "./print.ts";

type Rollout = FleetRollout & {
  readonly contents_of: number | null;
  readonly instances: readonly {
    readonly id: string;
    readonly name: string | null;
    readonly outcome: string;
    readonly reasons: readonly string[];
  }[];
};

/** Prints the newest rollouts, the newest first. */
export async function printRollouts(
  options: AdminOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = (await adminClient(options)("/fleet/history")) as {
    readonly rollouts: readonly Rollout[];
  };
  if (options.json === true) console.log(JSON.stringify(answer, null, 2));
  else printTable(COLUMNS, answer.rollouts as unknown as readonly JsonObject[]);
}

const COLUMNS: Parameters<typeof printTable>[0] = {
  rollout: (row) => row["id"],
  at: (row) => row["at"],
  files: (row) => shortOf(String(row["contents"])),
  kind: (row) =>
    `${String(row["kind"])}${row["contents_of"] === null ? "" : ` of ${String(row["contents_of"])}`}`,
  by: (row) => row["author"] ?? "",
  stage: (row) => row["stage"],
  instances: (row) => outcomesOf(row["instances"] as unknown as Rollout["instances"]),
  reason: (row) => row["reason"] ?? "",
};

/** `3 applied`, or `2 applied, web-3 refused`. */
function outcomesOf(instances: Rollout["instances"]): string {
  const byOutcome = Map.groupBy(instances, ({ outcome }) => outcome);
  return [...byOutcome]
    .map(([outcome, those]) =>
      outcome === "applied" || outcome === "canary"
        ? `${those.length} ${outcome}`
        : `${those.map(({ name, id }) => name ?? id).join(", ")} ${outcome}`,
    )
    .join("; ");
}
