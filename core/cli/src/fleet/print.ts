/** Prints the instances of a fleet. */

import type { JsonObject } from "@sluice/contract";
import { shortOf } from "../print/digest.ts";
import { printTable } from "../print/records.ts";

/** An instance of `GET /fleet`. */
export interface FleetInstance {
  readonly id: string;
  readonly name: string;
  readonly is_self: boolean;
  readonly version: string;
  readonly admin_url: string | null;
  readonly data_directory: string | null;
  readonly state: string;
  readonly generation: number;
  readonly contents: string;
  readonly canary: string | null;
  readonly since: string;
  readonly seen_at: string;
  readonly workers: {
    readonly expected: number;
    readonly serving: number;
    readonly agree: boolean;
  };
  readonly refused: {
    readonly contents: string | null;
    readonly reasons: readonly string[];
  } | null;
  /** What became of the newest rollout there. */
  readonly rollout: { readonly outcome: string; readonly reasons: readonly string[] } | null;
}

/** The newest rollout. */
export interface FleetRollout {
  readonly id: number;
  readonly kind: string;
  readonly contents: string;
  readonly stage: string;
  readonly reason: string | null;
  readonly author: string | null;
  readonly asked_at: string;
  readonly at: string;
  readonly ends_at: string;
  readonly canary: {
    readonly share: string;
    readonly requests: number;
    readonly errors: number;
  } | null;
}

/** `GET /fleet`, as far as it is printed. */
export interface Fleet {
  readonly as_of: string;
  readonly store_answers: boolean;
  readonly agree: boolean;
  readonly rollout: FleetRollout | null;
  readonly instances: readonly FleetInstance[];
}

/** Prints a fleet. The digest is that of the files: references may have other values elsewhere. */
export function printFleet(fleet: Fleet): void {
  const { instances, store_answers: isCurrent, as_of: asOf } = fleet;
  printTable(COLUMNS, instances as unknown as readonly JsonObject[]);
  for (const instance of instances) for (const line of linesOf(instance)) console.log(line);
  if (fleet.rollout !== null) console.log(rolloutLine(fleet.rollout));
  if (!isCurrent) console.log(`the store does not answer: the other instances are as of ${asOf}`);
  console.log(agreementOf(fleet));
}

/** The name of an instance, with its id where another one has the same name. */
export function nameOf({ name, id }: Pick<FleetInstance, "name" | "id">): string {
  return `${name} (${id})`;
}

/** The newest rollout, and where it stands. */
function rolloutLine(rollout: FleetRollout): string {
  const { id, kind, contents, stage, reason, author, at, ends_at: end, canary } = rollout;
  const by = author === null ? "" : ` by ${author}`;
  const what = `${kind} ${id} of files ${shortOf(contents)}${by} at ${at}`;
  if (canary === null) return what;
  const counts = `${canary.errors} of ${canary.requests} requests failed`;
  if (stage === "canary")
    return `${what}: canary for ${canary.share} of the keys until ${end}: ${counts}`;
  return `${what}: canary ${stage}, because ${reason ?? "no reason is known"}; ${counts}`;
}

function agreementOf({ agree: isAgreed, instances }: Fleet): string {
  const alive = instances.filter(({ state }) => state !== "gone");
  const byFiles = Map.groupBy(alive, ({ contents }) => shortOf(contents));
  const [first] = byFiles.keys();
  if (isAgreed && first !== undefined)
    return `${alive.length} of ${alive.length} instances run files ${first}`;
  const groups = [...byFiles].map(
    ([files, those]) => `${files} on ${those.map(({ name }) => name).join(", ")}`,
  );
  return `the instances run different files: ${groups.join("; ")}`;
}

function linesOf(instance: FleetInstance): readonly string[] {
  const { refused, workers, canary, state } = instance;
  if (state === "gone") return goneLines(instance);
  return [
    ...(canary === null ? [] : [`${nameOf(instance)}: canary of files ${shortOf(canary)}`]),
    ...(workers.agree ? [] : [`${nameOf(instance)}: its workers run different files`]),
    ...(refused === null
      ? []
      : [
          `${nameOf(instance)} refused files ${shortOf(refused.contents ?? "that cannot be read")}:`,
          ...refused.reasons.map((reason) => `  ${reason}`),
        ]),
  ];
}

function goneLines(instance: FleetInstance): readonly string[] {
  const { data_directory: folder } = instance;
  if (folder === null) return [];
  return [
    `${nameOf(instance)} is gone: rows that it did not send are in its data folder ${folder}. Start it again, or run sluice ledger recover with that folder`,
  ];
}

const COLUMNS: Parameters<typeof printTable>[0] = {
  instance: (row) => `${row["is_self"] === true ? "*" : " "}${String(row["name"])}`,
  id: (row) => row["id"],
  version: (row) => row["version"],
  state: (row) => row["state"],
  generation: (row) => row["generation"],
  files: (row) => shortOf(String(row["contents"])),
  since: (row) => row["since"],
  seen: (row) => row["seen_at"],
  workers: (row) => {
    const { serving, expected } = row["workers"] as unknown as FleetInstance["workers"];
    return `${serving} of ${expected}`;
  },
  admin: (row) => row["admin_url"] ?? "",
};
