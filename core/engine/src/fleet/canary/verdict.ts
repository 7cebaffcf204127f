/** The verdict on a canary of the fleet: one, on what all processes have reported. */

import type { RolloutRecord, RolloutReport } from "@sluice/contract";
import {
  faultIn,
  joinEvidence,
  NO_EVIDENCE,
  readEvidence,
} from "../../generation/rollout/canary/evidence.ts";
import { fleetPlan } from "./plan.ts";

/** What is decided, and why. */
export interface FleetVerdict {
  readonly stage: "promoted" | "returned";
  readonly reason: string;
}

/** What the processes have reported together. */
export interface JoinedReports {
  readonly evidence: ReturnType<typeof joinEvidence>;
  /** The last report of each process, by its instance and the number of its worker. */
  readonly last: readonly RolloutReport[];
}

/** The time for the last reports of a canary whose time is over. */
const SETTLE_MS = 1_500;

/** Joins reports, the newest first. Evidence of processes that ended counts. */
export function joinReports(reports: readonly RolloutReport[]): JoinedReports {
  const last = new Map<string, RolloutReport>();
  for (const report of reports) {
    const place = `${report.instance} ${report.process.split("-", 1)[0] ?? ""}`;
    if (!last.has(place)) last.set(place, report);
  }
  const evidence = joinEvidence(
    reports.map((report) => readEvidence(report.evidence) ?? NO_EVIDENCE),
  );
  return { evidence, last: [...last.values()] };
}

/** Whether a canary is decided on now, whatever its requests say. */
export function isOver({ endsAtMs }: RolloutRecord, nowMs: number): boolean {
  return nowMs >= endsAtMs + SETTLE_MS;
}

/**
 * The verdict; `undefined` while the canary goes on. `nameOf` names an instance that is not gone.
 */
export function verdictOn(
  record: RolloutRecord,
  { evidence, last }: JoinedReports,
  nowMs: number,
  nameOf: (instance: string) => string | undefined,
): FleetVerdict | undefined {
  if (record.plan === null) return undefined;
  const plan = fleetPlan(record.plan);
  const fault = faultIn(evidence, plan);
  if (fault !== undefined) return { stage: "returned", reason: fault };
  if (!isOver(record, nowMs)) return undefined;
  for (const { instance, outcome, reasons } of last) {
    const name = nameOf(instance);
    if (outcome === "refused" && name !== undefined)
      return {
        stage: "returned",
        reason: `its time is over, and ${name} refused it: ${reasons[0] ?? "no reason is known"}`,
      };
  }
  const { requests } = evidence;
  if (requests >= plan.minRequests) return { stage: "promoted", reason: "its time is over" };
  const reason = `its time is over, and it had ${requests} of the ${plan.minRequests} requests that it is judged by`;
  return { stage: "returned", reason };
}
