/**
 * Views: an exchange over another one, for inner steps that run beside others. A view begins with
 * the state of the exchange beneath it. What a step sets stays in the view. A *branch* is a view
 * whose result may be adopted: hedges, shared calls and steps with a time limit use it. A view
 * *apart* has slots and notes of its own and is never adopted: steps in shadow use it.
 */

import type {
  Attempt,
  AttemptWriter,
  ClientRequest,
  Exchange,
  GatewayError,
  GatewayRequest,
  Identity,
  Lifetime,
  Model,
  Operation,
  Reply,
  Slots,
  Target,
} from "@sluice/contract";
import { checkReply } from "./check-reply.ts";

/** One of several exchanges of a parent. Its changes stay its own until it is adopted. */
export interface Branch extends Exchange {
  /**
   * The exchange that the branch belongs to. Its attempts are the parent's too; a branch lists its
   * own.
   */
  readonly parent: Exchange;
  readonly attempts: readonly AttemptWriter[];
  /**
   * Called in place of `read` when the body is asked for through the branch; it calls `read`.
   * Absent: the body is read.
   */
  aroundRead?: ((read: () => Promise<void>) => Promise<void>) | undefined;
  /** Adds an attempt to the branch's own list. */
  list(attempt: AttemptWriter): void;
  /** Ends the running work of this branch. The parent and the other branches continue. */
  abort(reason: GatewayError): void;
  /**
   * Copies the branch's results to the parent: target, reply, headers, and the changes of inner
   * steps.
   */
  adopt(): void;
}

/** The parts that a view apart has for itself and a branch shares. */
export interface Apart {
  readonly slots: Slots;
  readonly attempts: readonly Attempt[];
  readonly note: Exchange["note"];
}

/** A view that belongs to no exchange. `abort` ends its work. */
export type ViewApart = Exchange & Pick<Branch, "abort">;

/** Of a branch, the exchange that it belongs to; of another exchange, `undefined`. */
export function parentOf(exchange: Exchange): Exchange | undefined {
  return (exchange as Partial<Branch>).parent;
}

/**
 * A branch with the parent's initial state. It has a signal of its own that follows the parent's.
 * Its attempts are recorded and numbered in the parent's list. The slots and the lifetime are
 * shared. `controller` replaces the parent's signal, for work that may continue without the
 * parent's client.
 */
export function branchOf(parent: Exchange, controller?: AbortController): Branch {
  return new ExchangeView(parent, controller, undefined) as Branch;
}

/** A view apart, with the present state of the exchange beneath. */
export function viewApart(beneath: Exchange, apart: Apart): ViewApart {
  const view = new ExchangeView(beneath, undefined, apart);
  // Copied now: the exchange beneath changes later.
  void view.headers;
  return view;
}

class ExchangeView implements Exchange {
  readonly #beneath: Exchange;
  readonly #notes: Pick<Exchange, "note">;
  readonly parent: Exchange | undefined;
  readonly id: string;
  readonly operation: Operation;
  readonly client: ClientRequest;
  readonly lifetime: Lifetime;
  readonly slots: Slots;
  /** Read only in a view apart. */
  readonly attempts: AttemptWriter[];
  aroundRead: Branch["aroundRead"] = undefined;
  request: GatewayRequest | undefined;
  identity: Identity | undefined;
  model: Model | undefined;
  target: Target | undefined;
  #reply: Reply | undefined;
  readonly #controller: AbortController;
  readonly #follow: (() => void) | undefined;
  /** Made on first use: most views have no header of their own. */
  #headers: Map<string, string> | undefined;

  constructor(
    beneath: Exchange,
    controller: AbortController | undefined,
    apart: Apart | undefined,
  ) {
    this.#beneath = beneath;
    this.parent = apart === undefined ? beneath : undefined;
    this.id = beneath.id;
    this.operation = beneath.operation;
    this.client = beneath.client;
    this.lifetime = beneath.lifetime;
    this.slots = apart?.slots ?? beneath.slots;
    this.attempts = (apart?.attempts ?? []) as AttemptWriter[];
    this.#notes = apart ?? beneath;
    this.request = beneath.request;
    this.identity = beneath.identity;
    this.model = beneath.model;
    this.target = beneath.target;
    this.#controller = controller ?? new AbortController();
    if (controller !== undefined) return;
    this.#follow = () => this.abort(beneath.signal.reason as GatewayError);
    if (beneath.signal.aborted) this.#follow();
    else beneath.signal.addEventListener("abort", this.#follow, { once: true });
  }

  get reply(): Reply | undefined {
    return this.#reply;
  }

  set reply(reply: Reply | undefined) {
    if (reply !== undefined) checkReply(reply);
    this.#reply = reply;
  }

  get headers(): Map<string, string> {
    this.#headers ??= new Map(this.#beneath.headers);
    return this.#headers;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  note(step: string, text: string, about?: string): void {
    this.#notes.note(step, text, about);
  }

  list(attempt: AttemptWriter): void {
    this.attempts.push(attempt);
  }

  abort(reason: GatewayError): void {
    if (this.#follow !== undefined) this.#beneath.signal.removeEventListener("abort", this.#follow);
    if (!this.signal.aborted) this.#controller.abort(reason);
  }

  adopt(): void {
    const { parent } = this;
    if (parent === undefined) throw new Error("A view apart is not adopted.");
    const headers = this.#headers;
    parent.request = this.request;
    parent.identity = this.identity;
    parent.model = this.model;
    parent.target = this.target;
    parent.reply = this.reply;
    if (headers === undefined) return;
    for (const [name, value] of headers) parent.headers.set(name, value);
    if (parent.headers.size === headers.size) return;
    for (const name of parent.headers.keys()) if (!headers.has(name)) parent.headers.delete(name);
  }
}
