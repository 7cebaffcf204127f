/** What a process does for the verdict on a canary of the fleet. */

import type { InstanceStore, RolloutRecord, RolloutStore } from "@sluice/contract";
import { type Evidence, isBad } from "../../generation/rollout/canary/evidence.ts";
import { joinInstances } from "../join-instances.ts";
import type { StoreAnswers } from "../store-answers.ts";
import { isOver, joinReports, verdictOn } from "./verdict.ts";

/** What a judge reads and writes. */
export interface JudgeParts {
  readonly rollouts: RolloutStore;
  readonly instances: InstanceStore;
  readonly answers: StoreAnswers;
}

const MAX_LISTED = 2_000;

/**
 * Reads the reports of all processes where they may decide: after its own bad news, while too few
 * requests are known, and when the time is over. Good news alone ends no canary before.
 */
export class CanaryJudge {
  readonly #parts: JudgeParts;
  #id = 0;
  /** The own evidence that was judged last, as a text. */
  #judged = "";
  /** Requests of the fleet, as last read. */
  #requests = 0;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /**
   * Decides, if it is time. `own` is reported already. Resolves with whether the canary has ended.
   */
  async judge(record: RolloutRecord, own: Evidence, nowMs: number): Promise<boolean> {
    if (this.#id !== record.id) this.#begin(record.id);
    const text = JSON.stringify(own);
    const isNew = text !== this.#judged;
    const mayDecide = isBad(own) || this.#requests < (record.plan?.minRequests ?? 0);
    if (!isOver(record, nowMs) && !(isNew && mayDecide)) return false;
    const { rollouts, answers } = this.#parts;
    const reports = await answers.ask(rollouts.reports(record.source, record.id));
    if (reports === undefined) return false;
    this.#judged = text;
    const joined = joinReports(reports);
    this.#requests = joined.evidence.requests;
    const names = isOver(record, nowMs) ? await this.#names() : new Map<string, string>();
    if (names === undefined) return false;
    const verdict = verdictOn(record, joined, nowMs, (id) => names.get(id));
    if (verdict === undefined) return false;
    const { stage, reason } = verdict;
    // Of several processes one decides. What it decided is read by all.
    await answers.ask(rollouts.decide(record.source, record.id, stage, reason));
    return true;
  }

  #begin(id: number): void {
    this.#id = id;
    this.#judged = "";
    this.#requests = 0;
  }

  /** The instances that are not gone, by their ids. */
  async #names(): Promise<ReadonlyMap<string, string> | undefined> {
    const { instances, answers } = this.#parts;
    const list = await answers.ask(instances.list(MAX_LISTED));
    if (list === undefined) return undefined;
    const joined = joinInstances(list.records, list.nowMs, instances.reportEveryMs);
    return new Map(
      joined.filter(({ state }) => state !== "gone").map(({ id, name }) => [id, name]),
    );
  }
}
