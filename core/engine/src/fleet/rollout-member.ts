/**
 * What a process does about the rollouts of its fleet: it looks at the newest one, brings itself to
 * it, and reports what became of it.
 */

import type { InstanceStore, Log, RolloutRecord, RolloutStore } from "@sluice/contract";
import type { Canary } from "../generation/rollout/canary/canary.ts";
import type { GenerationManager } from "../generation/manager.ts";
import { CanaryHere } from "./canary/canary-here.ts";
import { CanaryJudge } from "./canary/canary-judge.ts";
import type { RolloutContents } from "./contents.ts";
import type { InstanceIdentity } from "./identity.ts";
import { LookLoop } from "./look-loop.ts";
import { fleetPlan } from "./canary/plan.ts";
import { Progress } from "./progress.ts";
import { StoreAnswers } from "./store-answers.ts";

/** What a member needs. */
export interface RolloutMemberParts {
  readonly rollouts: RolloutStore;
  readonly instances: InstanceStore;
  readonly contents: RolloutContents;
  readonly manager: Pick<GenerationManager, "status" | "endCanary">;
  readonly identity: InstanceIdentity;
  /** Names the process: the number of its worker, and a value that it made at its start. */
  readonly process: string;
  /** Called when something became of a rollout here. */
  readonly onOutcome: () => void;
  readonly log: Log;
}

const LOOK_MS = 1_000;
/** A process that does not reach the store for so long leaves a canary: it may have ended. */
const CUT_MS = 10_000;
const CUT_REASON = "the store of the fleet has not answered for 10 s";

/** One process of the fleet, as far as rollouts concern it. */
export class RolloutMember {
  readonly #parts: RolloutMemberParts;
  readonly #answers: StoreAnswers;
  readonly #judge: CanaryJudge;
  readonly #loop: LookLoop;
  readonly #progress: Progress;
  readonly #canary: CanaryHere;
  /** The contents that served all keys when the canary began here. */
  #before: string | undefined;

  constructor(parts: RolloutMemberParts) {
    const { rollouts, instances, log } = parts;
    this.#parts = parts;
    this.#answers = new StoreAnswers(log, "the rollouts of the fleet");
    const { process, onOutcome } = parts;
    const instance = parts.identity.id;
    const answers = this.#answers;
    this.#canary = new CanaryHere(parts.manager, parts.contents);
    this.#progress = new Progress({ rollouts, answers, instance, process, onOutcome });
    this.#judge = new CanaryJudge({ rollouts, instances, answers });
    this.#loop = new LookLoop(
      () => this.#lookOnce(),
      LOOK_MS,
      (error) => log.error("a rollout of the fleet failed", { error }),
    );
  }

  /** The canary of the fleet that runs here; `undefined` without one. */
  get canary(): Canary | undefined {
    return this.#canary.running;
  }

  /** What became of the newest rollout here. */
  get progress(): Pick<Progress, "outcome" | "reasons"> {
    return this.#progress;
  }

  /** What was refused here may apply now: files of this machine have changed. */
  retry(): void {
    this.#parts.contents.retry();
    if (this.#progress.outcome !== "refused") return;
    this.#progress.begin(this.#progress.id);
    void this.look();
  }

  /** Looks once a second from now on. */
  begin(): void {
    this.#loop.begin();
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  /** Looks at the newest rollout now, and brings this process to it. Never rejects. */
  look(): Promise<void> {
    return this.#loop.now();
  }

  async #lookOnce(): Promise<void> {
    const { rollouts, contents } = this.#parts;
    // A process that stood still has missed what was decided.
    if (this.#answers.silentMs > CUT_MS) this.#leaveCanary();
    const newest = await this.#answers.ask(rollouts.newest(contents.source));
    if (newest?.record !== undefined) await this.#follow(newest.record, newest.nowMs);
    else if (this.#answers.silentMs > CUT_MS) this.#leaveCanary();
  }

  async #follow(record: RolloutRecord, nowMs: number): Promise<void> {
    if (this.#progress.id !== record.id) {
      this.#canary.begin(record);
      this.#progress.begin(record.id);
    }
    const isRunning = this.#canary.isOf(record);
    if (record.stage === "canary" || record.stage === "returned")
      await this.#parts.contents.base(record, this.#parts.manager.status.live);
    if (record.stage === "canary") await this.#followCanary(record, nowMs, isRunning);
    else if (record.stage === "returned") this.#end("returned", record, isRunning);
    else if (isRunning) {
      this.#end("promoted", record, true);
      await this.#parts.contents.promoted(record);
    } else await this.#take(record, nowMs);
    const { evidence } = this.#canary;
    await this.#progress.report(record, evidence);
    if (record.stage !== "canary" || !(await this.#judge.judge(record, evidence, nowMs))) return;
    const decided = await this.#answers.ask(this.#parts.rollouts.find(record.source, record.id));
    if (decided !== undefined && decided.stage !== "canary") await this.#follow(decided, nowMs);
  }

  async #followCanary(record: RolloutRecord, nowMs: number, isRunning: boolean): Promise<void> {
    const progress = this.#progress;
    const before = this.#parts.manager.status.live?.snapshot.contents;
    if (isRunning) this.#progress.note("canary");
    // Where what serves all other keys is the same, a secret of this machine has changed.
    else if (progress.outcome === "canary" && before !== this.#before) await this.#lost(record);
    else {
      this.#before = before;
      await this.#take(record, nowMs);
    }
  }

  /** The canary ended here by an edit of this instance: it ends everywhere. */
  async #lost(record: RolloutRecord): Promise<void> {
    const { rollouts, identity } = this.#parts;
    const isLive = this.#serves(record);
    const [stage, reason] = isLive
      ? (["promoted", `its contents were applied at ${identity.name}`] as const)
      : (["returned", `another edit took its place at ${identity.name}`] as const);
    this.#progress.note(isLive ? "applied" : "returned");
    this.#canary.lost();
    await this.#answers.ask(rollouts.decide(record.source, record.id, stage, reason));
  }

  #end(end: "promoted" | "returned", { reason }: RolloutRecord, isRunning: boolean): void {
    if (isRunning) this.#canary.end(end, reason ?? "the fleet decided so");
    if (end === "promoted") this.#progress.note("applied");
    // An instance that refused it says so for good.
    else if (this.#progress.outcome !== "refused") this.#progress.note("returned");
  }

  /** Applies the contents, unless they run, or were refused here. */
  async #take(record: RolloutRecord, nowMs: number): Promise<void> {
    const { contents } = this.#parts;
    const progress = this.#progress;
    const isCanary = record.stage === "canary";
    const runs = this.#serves(record);
    if (runs) this.#progress.note("applied");
    if (runs || progress.outcome === "refused" || !contents.isOpen(record, nowMs)) return;
    const plan = isCanary && record.plan !== null ? fleetPlan(record.plan) : undefined;
    const result = await contents.take(record, plan);
    if (result === undefined) this.#progress.note("waiting");
    else if (result.outcome === "refused") progress.refuse(result.findings);
    // One that an edit overtook is looked at again.
    else if (result.outcome === "canary") this.#progress.note("canary");
    else if (result.outcome !== "superseded") this.#progress.note("applied");
  }

  /** Whether a rollout serves all keys here. */
  #serves(record: RolloutRecord): boolean {
    const { live } = this.#parts.manager.status;
    return live !== undefined && this.#parts.contents.isOf(record, live);
  }

  /** The canary may have ended without this process: its keys return. */
  #leaveCanary(): void {
    if (this.canary === undefined) return;
    this.#progress.note("cut");
    this.#canary.end("returned", CUT_REASON);
  }
}
