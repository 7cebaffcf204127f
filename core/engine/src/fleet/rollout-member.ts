/**
 * What a process does about the rollouts of its fleet: it looks at the newest one, brings itself to
 * it, and reports what became of it.
 */

import type { InstanceStore, Log, RolloutRecord, RolloutStore } from "@sluice/contract";
import type { Canary } from "../generation/rollout/canary/canary.ts";
import type { GenerationManager } from "../generation/manager.ts";
import { CanaryJudge } from "./canary-judge.ts";
import type { RolloutContents } from "./contents.ts";
import type { InstanceIdentity } from "./identity.ts";
import { OwnEvidence } from "./own-evidence.ts";
import { fleetPlan } from "./plan.ts";
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

/** One process of the fleet, as far as rollouts concern it. */
export class RolloutMember {
  readonly #parts: RolloutMemberParts;
  readonly #answers: StoreAnswers;
  readonly #judge: CanaryJudge;
  #isOpen = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  readonly #progress: Progress;
  readonly #evidence = new OwnEvidence();

  constructor(parts: RolloutMemberParts) {
    const { rollouts, instances, log } = parts;
    this.#parts = parts;
    this.#answers = new StoreAnswers(log, "the rollouts of the fleet");
    const { process, onOutcome } = parts;
    const instance = parts.identity.id;
    const answers = this.#answers;
    this.#progress = new Progress({ rollouts, answers, instance, process, onOutcome });
    this.#judge = new CanaryJudge({ rollouts, instances, answers });
  }

  /** The canary of the fleet that runs here; `undefined` without one. */
  get canary(): Canary | undefined {
    const { canary } = this.#parts.manager.status;
    return canary?.plan.isOfFleet === true ? canary : undefined;
  }

  /** What became of the newest rollout here. */
  get progress(): Pick<Progress, "outcome" | "reasons"> {
    return this.#progress;
  }

  /** Looks once a second from now on. */
  begin(): void {
    this.#isOpen = true;
    void this.look();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Looks at the newest rollout now, and brings this process to it. Never rejects. */
  look(): Promise<void> {
    clearTimeout(this.#timer);
    this.#looking = this.#looking
      .then(() => this.#lookOnce())
      .catch((error: unknown) => this.#parts.log.error("a rollout of the fleet failed", { error }))
      .finally(() => {
        clearTimeout(this.#timer);
        if (this.#isOpen) this.#timer = setTimeout(() => void this.look(), LOOK_MS).unref();
      });
    return this.#looking;
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
    if (this.#progress.id !== record.id) this.#begin(record);
    const isRunning = this.canary?.generation.snapshot.contents === record.contents;
    if (record.stage === "canary") await this.#followCanary(record, nowMs, isRunning);
    else if (record.stage === "returned") this.#end("returned", record, isRunning);
    else if (isRunning) this.#end("promoted", record, true);
    else await this.#take(record, nowMs);
    const evidence = this.#evidence.read(this.canary);
    await this.#progress.report(record, evidence);
    if (record.stage !== "canary" || !(await this.#judge.judge(record, evidence, nowMs))) return;
    const decided = await this.#answers.ask(this.#parts.rollouts.find(record.source, record.id));
    if (decided !== undefined && decided.stage !== "canary") await this.#follow(decided, nowMs);
  }

  /** A canary of another rollout ends: what took its place may take time to arrive. */
  #begin({ id, contents, stage }: RolloutRecord): void {
    const { manager } = this.#parts;
    const isSame = this.canary?.generation.snapshot.contents === contents;
    if (this.canary !== undefined && (!isSame || stage === "canary"))
      manager.endCanary("returned", "another rollout took its place");
    this.#progress.begin(id);
    this.#evidence.clear();
  }

  async #followCanary(record: RolloutRecord, nowMs: number, isRunning: boolean): Promise<void> {
    const progress = this.#progress;
    if (isRunning) this.#progress.note("canary");
    else if (progress.outcome === "canary") await this.#lost(record);
    else await this.#take(record, nowMs);
  }

  /** The canary ended here by an edit of this instance: it ends everywhere. */
  async #lost({ source, id, contents }: RolloutRecord): Promise<void> {
    const { manager, rollouts, identity } = this.#parts;
    const isLive = manager.status.live?.snapshot.contents === contents;
    const [stage, reason] = isLive
      ? (["promoted", `its contents were applied at ${identity.name}`] as const)
      : (["returned", `another edit took its place at ${identity.name}`] as const);
    this.#progress.note(isLive ? "applied" : "returned");
    this.#evidence.leave(undefined);
    await this.#answers.ask(rollouts.decide(source, id, stage, reason));
  }

  #end(end: "promoted" | "returned", { reason }: RolloutRecord, isRunning: boolean): void {
    if (isRunning) {
      this.#evidence.leave(this.canary);
      this.#parts.manager.endCanary(end, reason ?? "the fleet decided so");
    }
    if (end === "promoted") this.#progress.note("applied");
    // An instance that refused it says so for good.
    else if (this.#progress.outcome !== "refused") this.#progress.note("returned");
  }

  /** Applies the contents, unless they run, or were refused here. */
  async #take(record: RolloutRecord, nowMs: number): Promise<void> {
    const { manager, contents } = this.#parts;
    const progress = this.#progress;
    const isCanary = record.stage === "canary";
    const runs = manager.status.live?.snapshot.contents === record.contents;
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

  /** The canary may have ended without this process: its keys return. */
  #leaveCanary(): void {
    if (this.canary === undefined) return;
    this.#evidence.leave(this.canary);
    this.#progress.note("cut");
    const seconds = Math.round(CUT_MS / 1_000);
    const reason = `the store of the fleet has not answered for ${seconds} s`;
    this.#parts.manager.endCanary("returned", reason);
  }
}
