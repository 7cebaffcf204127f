/**
 * The audit of administration: a line of the store's chain for each change, in the transaction of
 * the change, and one for each refusal. The log has the changes too.
 */

import {
  type AuditEntry,
  type AuditOutcome,
  type AuditStore,
  type Clock,
  GatewayError,
  type JsonObject,
  type Log,
  type PolicyAction,
  type Store,
} from "@sluice/contract";
import { isDeepStrictEqual } from "node:util";
import type { ObjectPlace, PolicyObject, Principal } from "./may.ts";

/** The records of the store that administration changes. */
export type Records = Pick<Store, "keys" | "teams" | "tenants">;

/** The parts of the audit. */
export interface AuditParts {
  readonly store: Records & Pick<Store, "audited"> & { readonly audit?: AuditStore };
  readonly clock: Clock;
  readonly log: Log;
}

/** Who asks for something, and from where. */
export interface Asker {
  readonly principal: Principal;
  readonly action: PolicyAction;
  readonly requestId: string;
  readonly address: string | null;
  /** Another process writes the line of this request. Absent: no. */
  readonly isAudited?: boolean;
}

/** An asker whose action may be one that needs no role. */
type AnyAsker = Omit<Asker, "action"> & { readonly action: string };

/** What is changed. */
export interface AuditChange {
  /** `key`, `team`, `organization` and so on; absent: the gateway itself. */
  readonly kind?: string;
  readonly id?: string;
  readonly place?: ObjectPlace | undefined;
  /** The object before and after, as routes show it. Equal members are left out. */
  readonly before?: JsonObject | undefined;
  readonly after?: JsonObject | undefined;
  /** Names of the fields of the request, for the log. */
  readonly fields?: readonly string[];
  /** The author's name, as the request gives it. */
  readonly author?: string | undefined;
}

/** What an attempt answers, where it is one of the configuration. */
interface Attempted {
  readonly outcome?: string;
  readonly digest?: string | null;
  readonly generation?: number | null;
}

/** Members whose values may be secret. */
const SECRET: ReadonlySet<string> = new Set(["key", "metadata"]);
const HIDDEN = "[not recorded]";
const MAX_TEXT = 300;
/** Lines about refusals in a minute: more of them would only fill the store. */
const MAX_REFUSALS = 300;
const MINUTE_MS = 60_000;

/** Writes the audit. */
export class Audit {
  readonly #parts: AuditParts;
  #minute = 0;
  #refusals = 0;

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /**
   * Makes a change of the store, and its line in the same transaction: neither is there without the
   * other. Returns what the store answered.
   */
  async change<Result>(
    asker: Asker,
    change: AuditChange,
    write: (records: Records) => Promise<Result>,
  ): Promise<Result> {
    const { store } = this.#parts;
    const entry = this.#entry(asker, change, "done");
    const records = asker.isAudited === true ? store : (store.audited?.(entry) ?? store);
    const result = await write(records);
    if (isDone(result)) this.#note(asker, change);
    return result;
  }

  /**
   * Tries something that the store does not hold, between two lines. Throws `overloaded`, and tries
   * nothing, when the first line cannot be written.
   */
  async attempt<Result extends object>(
    asker: Asker,
    change: AuditChange,
    run: () => Promise<Result> | Result,
  ): Promise<Result> {
    if (asker.isAudited === true) return run();
    await this.#append(asker, change, "begun");
    this.#note(asker, change);
    let outcome: AuditOutcome = "failed";
    let after: JsonObject | undefined;
    try {
      const result = await run();
      const { outcome: said = "done", digest, generation } = result as Attempted;
      outcome = said === "refused" ? "refused" : "done";
      after = {
        ...change.after,
        outcome: said,
        ...(digest != null && { digest }),
        ...(generation != null && { generation }),
      };
      return result;
    } finally {
      // The attempt was recorded before it began; its end is in the log of attempts as well.
      await this.#append(asker, { ...change, after }, outcome).catch((error: unknown) =>
        this.#parts.log.warn("the end of an attempt is not in the audit", {
          action: asker.action,
          error,
        }),
      );
    }
  }

  /** Records that a session was opened or ended, or a code made. Throws `overloaded`. */
  async signed(
    asker: Omit<Asker, "action"> & { readonly action: `session.${string}` },
  ): Promise<void> {
    const { principal, action } = asker;
    await this.#append(asker, {}, "done");
    this.#parts.log.info("audit", {
      actor: principal.keyId,
      action,
      ...(principal.userId !== undefined && { user_id: principal.userId }),
    });
  }

  /** Records that something was refused. Never rejects: it is refused in any case. */
  async refused(asker: Asker, object?: PolicyObject): Promise<void> {
    const minute = Math.floor(this.#parts.clock.now() / MINUTE_MS);
    if (minute !== this.#minute) [this.#minute, this.#refusals] = [minute, 0];
    if (asker.isAudited === true || ++this.#refusals > MAX_REFUSALS) return;
    const change = { ...nameOf(object), place: object?.places[0] };
    await this.#append(asker, change, "refused").catch((error: unknown) =>
      this.#parts.log.warn("a refusal is not in the audit", { action: asker.action, error }),
    );
  }

  async #append(asker: AnyAsker, change: AuditChange, outcome: AuditOutcome): Promise<void> {
    await this.#parts.store.audit?.append(this.#entry(asker, change, outcome)).catch(rethrow);
  }

  #entry(asker: AnyAsker, change: AuditChange, outcome: AuditOutcome): AuditEntry {
    const { principal, action, requestId, address } = asker;
    const { kind, id, place, before, after, author } = change;
    return {
      atMs: this.#parts.clock.now(),
      actor: principal.keyId,
      userId: principal.userId ?? null,
      session: principal.session ?? null,
      address,
      action,
      object: kind === undefined ? null : shortened(id === undefined ? kind : `${kind}:${id}`),
      organizationId: place?.organizationId ?? null,
      teamId: place?.teamId ?? null,
      outcome,
      before: before === undefined ? null : differing(before, after),
      after: afterOf(before, after, author),
      requestId,
    };
  }

  #note(asker: Asker, { kind, id, fields, author }: AuditChange): void {
    const { principal, action } = asker;
    this.#parts.log.info("audit", {
      actor: principal.keyId,
      action,
      ...(principal.userId !== undefined && { user_id: principal.userId }),
      ...(author !== undefined && { author }),
      ...(kind === "key" && { key_id: id }),
      ...(kind === "team" && { team_id: id }),
      ...(kind === "deployment" && { deployment: id }),
      ...(kind !== undefined && { object: id === undefined ? kind : `${kind}:${id}` }),
      ...(fields !== undefined && { fields }),
    });
  }
}

/** Whether a write of the store has changed something. */
function isDone(result: unknown): boolean {
  if (result === undefined || result === false) return false;
  if (typeof result === "string") return result === "added" || result === "declared";
  if (typeof result === "object" && result !== null && "outcome" in result)
    return result.outcome === "deleted";
  return true;
}

function rethrow(cause: unknown): never {
  throw new GatewayError(
    "overloaded",
    "The audit cannot be written at the moment, so nothing was changed. Retry in a second.",
    { retryAfterMs: 1_000, cause },
  );
}

function nameOf(object: PolicyObject | undefined): {
  readonly kind?: string;
  readonly id?: string;
} {
  if (object?.keyId !== undefined) return { kind: "key", id: object.keyId };
  const { self } = object ?? {};
  if (self === undefined || self.kind === "whole")
    return typeof object?.userId === "string" ? { kind: "user", id: object.userId } : {};
  return { kind: self.kind, id: self.id };
}

function afterOf(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  author: string | undefined,
): JsonObject | null {
  if (after === undefined && author === undefined) return null;
  return {
    ...(after !== undefined && differing(after, before)),
    ...(author !== undefined && { author }),
  };
}

/** The members of one view that another one does not have, without secrets and empty members. */
function differing(view: JsonObject, other: JsonObject | undefined): JsonObject {
  const members = Object.entries(view).filter(([name, value]) =>
    other === undefined ? !isEmpty(value) : !isDeepStrictEqual(value, other[name]),
  );
  return Object.fromEntries(
    members.map(([name, value]) => [name, SECRET.has(name) ? HIDDEN : value]),
  );
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** A text of a request, bounded, on one line. */
function shortened(text: string): string {
  return text
    .slice(0, MAX_TEXT)
    .replaceAll(/\p{Cc}/gu, "\uFFFD")
    .toWellFormed();
}
