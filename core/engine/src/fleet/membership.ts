/** The membership of a process in the fleet: it reports itself, and knows the other instances. */

import type {
  InstanceList,
  InstanceReport,
  InstanceState,
  InstanceStore,
  Log,
} from "@sluice/contract";
import type { ManagerStatus } from "../generation/rollout/apply.ts";
import { type OwnFacts, ownReport } from "./own-report.ts";
import { StoreAnswers } from "./store-answers.ts";

/** What a membership needs. */
export interface MembershipParts {
  /** Absent: the store keeps no instances, and the process knows itself alone. */
  readonly store: InstanceStore | undefined;
  readonly facts: OwnFacts;
  /** Finds the address of the admin listener where another process has it. */
  readonly findAdminUrl: () => string | undefined;
  readonly status: () => Pick<ManagerStatus, "live" | "canary" | "lastAttempt">;
  readonly log: Log;
}

/** The instances as the store last gave them. */
export interface KnownInstances extends InstanceList {
  /** Whether the store answered. Otherwise the list is that of an earlier time. */
  readonly isCurrent: boolean;
}

/** How often a process looks whether its report has changed. */
const LOOK_MS = 1_000;
/** Reports of instances that were not seen for so long are deleted. */
const EXPIRE_AFTER_MS = 3_600_000;
const EXPIRE_EVERY_MS = 600_000;
/** How often a process reads the list unasked, for the time when the store is away. */
const LIST_EVERY_MS = 30_000;
/** Maximum processes of a fleet that are listed. */
const MAX_LISTED = 2_000;

/** One process of the fleet. */
export class Membership {
  readonly #parts: MembershipParts;
  readonly #answers: StoreAnswers;
  #state: InstanceState = "serving";
  #adminUrl: string | undefined;
  #isOpen = false;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #known: InstanceList = { nowMs: 0, records: [] };
  /** The report that the store has, as a text. */
  #reported = "";
  #reportedMs = -Infinity;
  #listedMs = -Infinity;
  #expiredMs = performance.now();

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    this.#answers = new StoreAnswers(parts.log, "the instances of the fleet");
  }

  /** The id of the own instance. */
  get id(): string {
    return this.#parts.facts.id;
  }

  /** The time between two reports without a change, in milliseconds. */
  get reportEveryMs(): number {
    return this.#parts.store?.reportEveryMs ?? 0;
  }

  /**
   * Reports from now on. `adminUrl` is the address of the admin listener where this process has it.
   */
  begin(adminUrl: string | undefined): void {
    this.#adminUrl = adminUrl;
    this.#isOpen = this.#parts.store !== undefined;
    this.#soon(0);
  }

  /** Another generation serves, or a canary has begun or ended: the report is written now. */
  changed(): void {
    this.#soon(0);
  }

  /** The process stops taking requests. */
  leave(): void {
    this.#state = "draining";
    this.#soon(0);
  }

  /** Ends the reports, and deletes the last one. Never rejects. */
  async close(): Promise<void> {
    const { store, facts } = this.#parts;
    const hasReported = this.#isOpen;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    await this.#ticking;
    if (store !== undefined && hasReported)
      await this.#answers.ask(store.leave(facts.id, facts.worker));
  }

  /** The instances, the own process as it is now. Never rejects. */
  async list(): Promise<KnownInstances> {
    const { store, facts } = this.#parts;
    const found = store && (await this.#answers.ask(store.list(MAX_LISTED)));
    if (found !== undefined) this.#known = found;
    const isCurrent = store === undefined || found !== undefined;
    const nowMs = this.#known.nowMs || Date.now();
    const report = this.#report();
    const others = this.#known.records.filter(
      ({ id, worker }) => id !== facts.id || worker !== facts.worker,
    );
    const own = report === undefined ? [] : [{ ...report, seenAtMs: nowMs }];
    return { nowMs, records: [...own, ...others], isCurrent };
  }

  #report(): InstanceReport | undefined {
    const { facts, findAdminUrl, status } = this.#parts;
    this.#adminUrl ??= findAdminUrl();
    return ownReport(facts, { state: this.#state, adminUrl: this.#adminUrl, status: status() });
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#isOpen) return;
    this.#timer = setTimeout(() => {
      this.#ticking ??= this.#tick().finally(() => {
        this.#ticking = undefined;
        this.#soon(LOOK_MS);
      });
    }, ms).unref();
  }

  async #tick(): Promise<void> {
    const { store } = this.#parts;
    if (store === undefined) return;
    await this.#write(store);
    const nowMs = performance.now();
    if (nowMs - this.#listedMs >= LIST_EVERY_MS) {
      this.#listedMs = nowMs;
      const found = await this.#answers.ask(store.list(MAX_LISTED));
      if (found !== undefined) this.#known = found;
    }
    if (nowMs - this.#expiredMs >= EXPIRE_EVERY_MS) {
      this.#expiredMs = nowMs;
      await this.#answers.ask(store.expire(EXPIRE_AFTER_MS));
    }
  }

  /** Writes the report where it has changed, or where its time is over. */
  async #write(store: InstanceStore): Promise<void> {
    const report = this.#report();
    if (report === undefined) return;
    const text = JSON.stringify(report);
    const nowMs = performance.now();
    if (text === this.#reported && nowMs - this.#reportedMs < store.reportEveryMs) return;
    this.#reportedMs = nowMs;
    const isWritten = (await this.#answers.ask(store.report(report).then(() => true))) === true;
    this.#reported = isWritten ? text : "";
  }
}
