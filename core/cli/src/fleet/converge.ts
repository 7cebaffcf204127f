/** Waits until all instances of a fleet run what was rolled out, or says which do not and why. */

import { setTimeout as pause } from "node:timers/promises";
import type { AskAdmin } from "../admin-client.ts";
import { shortOf } from "../print/digest.ts";
import { type Fleet, type FleetInstance, nameOf } from "./print.ts";

/** How it ended. */
export interface Convergence {
  readonly isConverged: boolean;
  readonly lines: readonly string[];
}

const LOOK_MS = 500;

/** Looks until the instances agree, one has refused and none is waited for, or the time is over. */
export async function converge(
  ask: AskAdmin,
  rollout: number,
  waitMs: number,
): Promise<Convergence> {
  const untilMs = performance.now() + waitMs;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- asks until it is so.
    const fleet = (await ask("/fleet")) as Fleet;
    const found = convergenceOf(fleet, rollout);
    if (found.isSettled || performance.now() >= untilMs) return found;
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await pause(LOOK_MS);
  }
}

/** `isSettled`: waiting changes nothing by itself. */
export function convergenceOf(
  fleet: Fleet,
  rollout: number,
): Convergence & { readonly isSettled: boolean } {
  const { rollout: newest, instances, store_answers: isCurrent } = fleet;
  if (!isCurrent || newest === null)
    return { isConverged: false, isSettled: false, lines: ["the store does not answer"] };
  if (newest.id > rollout) {
    const lines = [`rollout ${newest.id} took the place of rollout ${rollout}`];
    return { isConverged: false, isSettled: true, lines };
  }
  // An instance that stops needs no new configuration.
  const counted = instances.filter(({ state }) => state !== "draining");
  const states = counted.map((instance) => ({ instance, lack: lackOf(instance, fleet) }));
  const lacking = states.filter(({ lack }) => lack !== undefined);
  const lines = lacking.flatMap(({ instance, lack }) => [
    `${nameOf(instance)}: ${lack?.why ?? ""}`,
    ...(lack?.reasons ?? []).map((reason) => `  ${reason}`),
  ]);
  const done = counted.length - lacking.length;
  const what = newest.stage === "canary" ? "try" : "run";
  const sum = `${done} of ${counted.length} instances ${what} files ${shortOf(newest.contents)}`;
  const isReturned = newest.stage === "returned";
  return {
    isConverged: lacking.length === 0 && !isReturned,
    isSettled: isReturned || lacking.every(({ lack }) => lack?.isFinal === true),
    lines: isReturned ? [`canary returned: ${newest.reason ?? ""}`] : [...lines, sum],
  };
}

interface Lack {
  readonly why: string;
  readonly reasons?: readonly string[];
  /** Waiting changes nothing by itself. */
  readonly isFinal: boolean;
}

/** Why an instance does not run the newest rollout; `undefined` where it does. */
function lackOf(instance: FleetInstance, { rollout, instances }: Fleet): Lack | undefined {
  const { state, rollout: own, version, contents, seen_at: seenAt } = instance;
  if (state === "gone") {
    const forget = `if it was removed: sluice fleet forget ${instance.id}`;
    return { why: `not reached since ${seenAt}; ${forget}`, isFinal: false };
  }
  const isThere = own?.outcome === "applied" || own?.outcome === "canary";
  if (isThere && (rollout?.stage === "canary" || contents === rollout?.contents)) return undefined;
  if (own?.outcome === "refused") return { why: "refused", reasons: own.reasons, isFinal: true };
  if (own?.outcome === "waiting")
    return { why: `has other files, ${shortOf(contents)} runs there`, isFinal: false };
  const asked = instances.find(({ id }) => id === rollout?.asked_at)?.version;
  if (asked !== undefined && version !== asked)
    return { why: `version ${version} has not taken part`, isFinal: false };
  return { why: "has not reported yet", isFinal: false };
}
