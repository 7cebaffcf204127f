/** What became of a rollout in this process, and its report. */

import type { JsonObject, RolloutRecord, RolloutReport, RolloutStore } from "@sluice/contract";
import { type Finding, formatFinding } from "../config/finding.ts";
import type { Evidence } from "../generation/rollout/canary/evidence.ts";
import type { StoreAnswers } from "./store-answers.ts";

/** `cut`: the canary was left because the store was away. It may begin again. */
export type Outcome = RolloutReport["outcome"] | "cut";

/** What reports need. */
export interface ProgressParts {
  readonly rollouts: Pick<RolloutStore, "report">;
  readonly answers: StoreAnswers;
  readonly instance: string;
  readonly process: string;
  /** Called when something became of a rollout here. */
  readonly onOutcome: () => void;
}

const MAX_REASONS = 10;
const MAX_REASON_LENGTH = 500;

/** The progress of one rollout after the other. */
export class Progress {
  id = 0;
  outcome: Outcome | undefined;
  reasons: readonly string[] = [];
  readonly #parts: ProgressParts;
  /** The report that the store has, as a text. */
  #reported = "";

  constructor(parts: ProgressParts) {
    this.#parts = parts;
  }

  /** Another rollout begins. */
  begin(id: number): void {
    this.id = id;
    this.outcome = undefined;
    this.reasons = [];
    this.#reported = "";
  }

  note(outcome: Outcome): void {
    if (this.outcome === outcome) return;
    this.outcome = outcome;
    this.#parts.onOutcome();
  }

  refuse(findings: readonly Finding[]): void {
    this.reasons = findings
      .slice(0, MAX_REASONS)
      .map((finding) => formatFinding(finding).slice(0, MAX_REASON_LENGTH));
    this.note("refused");
  }

  /** Writes the report where it has changed. */
  async report({ source, id }: RolloutRecord, evidence: Evidence): Promise<void> {
    const { rollouts, answers, instance, process } = this.#parts;
    const { outcome, reasons } = this;
    if (outcome === undefined || outcome === "cut") return;
    const seen = evidence.requests > 0 ? (evidence as unknown as JsonObject) : null;
    const report: RolloutReport = { instance, process, outcome, reasons, evidence: seen };
    const text = JSON.stringify(report);
    if (text === this.#reported) return;
    const isWritten = await answers.ask(rollouts.report(source, id, report).then(() => true));
    this.#reported = isWritten === true ? text : "";
  }
}
