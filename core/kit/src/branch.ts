/** Branches: for a concurrent step that runs the inner steps several times at once, and keeps what one of them came to. */

import type {
  AbortBilling,
  AmbiguousBilling,
  Attempt,
  ClientRequest,
  Exchange,
  Gate,
  GatewayError,
  GatewayRequest,
  JsonDocument,
  Operation,
  Pricer,
  Target,
} from "@sluice/spec";
import { checkReply } from "./check-reply.ts";

/** An exchange beside others of one parent. What it sets is its own until it is adopted. */
export interface Branch extends Exchange {
  readonly parent: Exchange;
  /** Ends what is under way in this branch. The parent and the other branches go on. */
  abort(reason: GatewayError): void;
  /** Makes what this branch came to the parent's: target, reply, headers, and what inner steps changed. */
  adopt(): void;
}

/**
 * A branch that begins as its parent is. It has a signal of its own, which follows the parent's; its attempts are recorded in
 * the parent's list as well, and numbered there. `state`, `gates`, `pricer`, `abortBilling`, `ambiguousBilling`, `served` and `isStorable` are
 * shared. `controller`: ends the branch in place of the parent's signal, for what may go on without the parent's client.
 */
export function branchOf(parent: Exchange, controller?: AbortController): Branch {
  return new ExchangeBranch(parent, controller);
}

class ExchangeBranch implements Branch {
  readonly parent: Exchange;
  readonly id: string;
  readonly operation: Operation;
  readonly client: ClientRequest;
  readonly generation: number;
  readonly startedAtMs: number;
  readonly state: Map<symbol, unknown>;
  readonly gates: Gate[];
  readonly attempts: Attempt[] = [];
  request: GatewayRequest | undefined;
  identity: Exchange["identity"];
  model: Exchange["model"];
  target: Exchange["target"];
  #reply: Exchange["reply"];
  readonly #controller: AbortController;
  readonly #follow: (() => void) | undefined;
  /** Made when somebody asks for them: most branches have no header of their own. */
  #headers: Map<string, string> | undefined;

  constructor(parent: Exchange, controller: AbortController | undefined) {
    this.parent = parent;
    this.id = parent.id;
    this.operation = parent.operation;
    this.client = parent.client;
    this.generation = parent.generation;
    this.startedAtMs = parent.startedAtMs;
    this.state = parent.state;
    this.gates = parent.gates;
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

  get deadlineMs(): number {
    return this.parent.deadlineMs;
  }

  get pricer(): Pricer | undefined {
    return this.parent.pricer;
  }

  set pricer(pricer: Pricer | undefined) {
    this.parent.pricer = pricer;
  }

  get abortBilling(): AbortBilling | undefined {
    return this.parent.abortBilling;
  }

  set abortBilling(billing: AbortBilling | undefined) {
    this.parent.abortBilling = billing;
  }

  get ambiguousBilling(): AmbiguousBilling | undefined {
    return this.parent.ambiguousBilling;
  }

  set ambiguousBilling(billing: AmbiguousBilling | undefined) {
    this.parent.ambiguousBilling = billing;
  }

  get guardrails(): Exchange["guardrails"] {
    return this.parent.guardrails;
  }

  get served(): Attempt | undefined {
    return this.parent.served;
  }

  set served(attempt: Attempt | undefined) {
    this.parent.served = attempt;
  }

  get isStorable(): boolean {
    return this.parent.isStorable;
  }

  set isStorable(isStorable: boolean) {
    this.parent.isStorable = isStorable;
  }

  get hold(): Exchange["hold"] {
    return this.parent.hold;
  }

  receive(): Promise<void> {
    return this.parent.receive().then(() => {
      this.request ??= this.parent.request;
    });
  }

  beginAttempt(target: Target, provider: string, document?: JsonDocument): Attempt {
    const attempt = this.parent.beginAttempt(target, provider, document);
    this.attempts.push(attempt);
    return attempt;
  }

  onSettle(settled: () => void): void {
    this.parent.onSettle(settled);
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
