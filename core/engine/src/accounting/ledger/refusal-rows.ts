/**
 * Rows of refused requests beyond a rate are counted together. See
 * core/decisions/2026-11-22-refusals-counted.md.
 */

import { randomUUID } from "node:crypto";
import type { Clock, SpendRow } from "@sluice/contract";
import { isGoneCode } from "@sluice/runtime";
import { joinCounts } from "../judged.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Refused requests of a key in a minute that have a row of their own. */
const MAX_ROWS = 60;
/**
 * Maximum combinations of code, call type and tags that are distinguished for a key in a minute.
 */
const MAX_GROUPS_OF_KEY = 16;
/**
 * Sums in memory. Where there are more keys than that, all sums are written before the minute ends.
 */
const MAX_SUMS = 4_096;

/** The value of a field in which the counted requests differ. */
type Sum = { -readonly [Name in keyof SpendRow]: SpendRow[Name] };

/** One key within a minute. */
interface KeyMinute {
  rows: number;
  groups: number;
}

/** Counts refused requests. `write` gets the sums of a minute when it ends. */
export class RefusalRows {
  readonly #clock: Clock;
  readonly #write: (rows: readonly SpendRow[]) => void;
  readonly #keys = new Map<string, KeyMinute>();
  readonly #sums = new Map<string, Sum>();
  #minute = 0;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(clock: Clock, write: (rows: readonly SpendRow[]) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Whether a row is counted here. One that is not is the caller's to write. */
  takes(rows: readonly SpendRow[]): boolean {
    const row = rows[0];
    // A client that left was not refused: its request has passed the limits.
    if (
      rows.length !== 1 ||
      row?.attempt !== 0 ||
      row.status !== "failure" ||
      isGoneCode(row.errorCode)
    )
      return false;
    if (this.#isEnded) return false;
    this.#turn();
    let key = this.#keys.get(row.keyId);
    if (key === undefined) this.#keys.set(row.keyId, (key = { rows: 0, groups: 0 }));
    if (key.rows < MAX_ROWS) {
      key.rows += 1;
      return false;
    }
    this.#add(row, key);
    return true;
  }

  /**
   * Writes what is counted. Rows that come later are the caller's to write. A second call has no
   * effect.
   */
  stop(): void {
    this.#isEnded = true;
    this.#flush();
  }

  #turn(): void {
    const minute = Math.floor(this.#clock.now() / MINUTE_MS);
    if (minute === this.#minute) return;
    this.#flush();
    this.#keys.clear();
    this.#minute = minute;
  }

  #add(row: SpendRow, key: KeyMinute): void {
    // A report counts a request in the hour in which it began, for the scopes of that time.
    const { keyId, userId, teamId, organizationId } = row;
    const hour = Math.floor(row.startedAtMs / HOUR_MS);
    const base = [keyId, userId, teamId, organizationId, hour, row.errorCode];
    const own = JSON.stringify([...base, row.callType, row.tags]);
    const sum = this.#sums.get(own);
    if (sum !== undefined) {
      include(sum, row);
      return;
    }
    const name = key.groups < MAX_GROUPS_OF_KEY ? own : JSON.stringify(base);
    const common = this.#sums.get(name);
    if (common !== undefined) {
      include(common, row);
      return;
    }
    key.groups += 1;
    this.#sums.set(name, {
      ...row,
      requestId: idAt(row.startedAtMs),
      metadata: {},
      requests: 1,
    });
    if (this.#sums.size >= MAX_SUMS) this.#flush();
    else this.#arm();
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#flush(), MINUTE_MS - (this.#clock.now() % MINUTE_MS));
    this.#timer.unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sums.size === 0) return;
    const rows = [...this.#sums.values()];
    this.#sums.clear();
    for (const key of this.#keys.values()) key.groups = 0;
    this.#write(rows);
  }
}

/** A UUIDv7 of a time, as requests have it: stores keep rows by the time in their ids. */
function idAt(timeMs: number): string {
  const time = timeMs.toString(16).padStart(12, "0");
  // The random one has version 4 in front of these digits.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

function include(sum: Sum, row: SpendRow): void {
  sum.requests = (sum.requests ?? 1) + 1;
  const judged = joinCounts(sum.judged, row.judged);
  if (judged !== undefined) sum.judged = judged;
  sum.startedAtMs = Math.min(sum.startedAtMs, row.startedAtMs);
  sum.endedAtMs = Math.max(sum.endedAtMs, row.endedAtMs);
  // When clients vary their tags, only the key's own tags stay.
  if (sum.tags !== row.tags) sum.tags = sum.tags.filter((tag) => row.tags.includes(tag));
  if (sum.callType !== row.callType) sum.callType = "";
  if (sum.model !== row.model) sum.model = "";
  if (sum.modelGroup !== row.modelGroup) sum.modelGroup = null;
  if (sum.endUser !== row.endUser) sum.endUser = null;
  if (sum.clientAddress !== row.clientAddress) sum.clientAddress = null;
}
