/** Branches: a concurrent step runs the inner steps several times at once, and keeps the result of one run. */

import type { AttemptWriter, Exchange, GatewayError, GatewayRequest, Lifetime, Slots } from "@sluice/contract";
import { checkReply } from "./check-reply.ts";

/** One of several exchanges of a parent. Its changes stay its own until it is adopted. */
export interface Branch extends Exchange {
  /** The exchange that the branch belongs to. Its attempts are the parent's too; a branch lists its own. */
  readonly parent: Exchange;
  /**
   * Called in place of `read` when the body is asked for through the branch; it calls `read`.
   * Absent: the body is read.
   */
  aroundRead?: ((read: () => Promise<void>) => Promise<void>) | undefined;
  readonly attempts: readonly AttemptWriter[];
  /** Adds an attempt to the branch's own list. */
  list(attempt: AttemptWriter): void;
  /** Ends the running work of this branch. The parent and the other branches continue. */
  abort(reason: GatewayError): void;
  /** Copies the branch's results to the parent: target, reply, headers, and the changes of inner steps. */
  adopt(): void;
}

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
  return new ExchangeBranch(parent, controller);
}

class ExchangeBranch implements Branch {
  readonly parent: Exchange;
  readonly id: string;
  readonly operation: Exchange["operation"];
  readonly client: Exchange["client"];
  readonly lifetime: Lifetime;
  readonly slots: Slots;
  readonly attempts: AttemptWriter[] = [];
  aroundRead: Branch["aroundRead"] = undefined;
  request: GatewayRequest | undefined;
  identity: Exchange["identity"];
  model: Exchange["model"];
  target: Exchange["target"];
  #reply: Exchange["reply"];
  readonly #controller: AbortController;
  readonly #follow: (() => void) | undefined;
  /** Made on first use: most branches have no header of their own. */
  #headers: Map<string, string> | undefined;

  constructor(parent: Exchange, controller: AbortController | undefined) {
    this.parent = parent;
    this.id = parent.id;
    this.operation = parent.operation;
    this.client = parent.client;
    this.lifetime = parent.lifetime;
    this.slots = parent.slots;
    this.request = parent.request;
    this.identity = parent.identity;
    this.model = parent.model;
    this.target = parent.target;
    this.#controller = controller ?? new AbortController();
    if (controller !== undefined) return;
    this.#follow = () => this.#controller.abort(parent.signal.reason);
    if (parent.signal.aborted) this.#follow();
    else parent.signal.addEventListener("abort", this.#follow, { once: true });
  }

  get reply(): Exchange["reply"] {
    return this.#reply;
  }

  set reply(reply: Exchange["reply"]) {
    if (reply !== undefined) checkReply(reply);
    this.#reply = reply;
  }

  get headers(): Map<string, string> {
    this.#headers ??= new Map(this.parent.headers);
    return this.#headers;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  list(attempt: AttemptWriter): void {
    this.attempts.push(attempt);
  }

  note(step: string, text: string, about?: string): void {
    this.parent.note(step, text, about);
  }

  abort(reason: GatewayError): void {
    if (this.#follow !== undefined) this.parent.signal.removeEventListener("abort", this.#follow);
    if (!this.signal.aborted) this.#controller.abort(reason);
  }

  adopt(): void {
    const { parent } = this;
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
