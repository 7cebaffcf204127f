/** The exchange that a step in shadow works on: it begins as the real one is, and nothing that is set on it has an effect. */

import { openAttempt } from "@sluice/kit";
import type {
  AbortBilling,
  AmbiguousBilling,
  Attempt,
  ClientRequest,
  Exchange,
  Gate,
  GatewayError,
  GatewayRequest,
  GuardrailOutcome,
  Operation,
  Pricer,
  Target,
} from "@sluice/spec";

/** What a step in shadow may see and set. Attempts are the real ones, and so are prices; all else is its own. */
export class ShadowExchange implements Exchange {
  readonly #real: Exchange;
  readonly #controller = new AbortController();
  readonly #follow: () => void;
  readonly id: string;
  readonly operation: Operation;
  readonly client: ClientRequest;
  readonly generation: number;
  readonly startedAtMs: number;
  readonly headers: Map<string, string>;
  readonly state: Map<symbol, unknown>;
  readonly gates: Gate[];
  readonly guardrails: GuardrailOutcome[] = [];
  request: GatewayRequest | undefined;
  identity: Exchange["identity"];
  model: Exchange["model"];
  target: Exchange["target"];
  reply: Exchange["reply"];
  pricer: Pricer | undefined;
  abortBilling: AbortBilling | undefined;
  ambiguousBilling: AmbiguousBilling | undefined;
  served: Attempt | undefined;
  isStorable: boolean;

  constructor(real: Exchange) {
    this.#real = real;
    this.id = real.id;
    this.operation = real.operation;
    this.client = real.client;
    this.generation = real.generation;
    this.startedAtMs = real.startedAtMs;
    this.headers = new Map(real.headers);
    this.state = new Map(real.state);
    this.gates = [...real.gates];
    this.request = real.request;
    this.identity = real.identity;
    this.model = real.model;
    this.target = real.target;
    this.reply = undefined;
    this.pricer = real.pricer;
    this.abortBilling = real.abortBilling;
    this.ambiguousBilling = real.ambiguousBilling;
    this.served = undefined;
    this.isStorable = real.isStorable;
    this.#follow = () => this.end(real.signal.reason as GatewayError);
    if (real.signal.aborted) this.#follow();
    else real.signal.addEventListener("abort", this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get deadlineMs(): number {
    return this.#real.deadlineMs;
  }

  get attempts(): readonly Attempt[] {
    return this.#real.attempts;
  }

  async receive(): Promise<void> {
    await this.#real.receive();
    this.request ??= this.#real.request;
  }

  /** No upstream call is made in shadow: this opens a record that nobody keeps. */
  beginAttempt(target: Target, provider: string): Attempt {
    return openAttempt({ number: 0, target, model: this.model, provider, startedAtMs: this.startedAtMs });
  }

  onSettle(settled: () => void): void {
    this.#real.onSettle(settled);
  }

  note(step: string, text: string, about?: string): void {
    this.#real.note(step, `in shadow: ${text}`, about);
  }

  /** Ends what the step has under way. */
  end(reason: GatewayError): void {
    this.#real.signal.removeEventListener("abort", this.#follow);
    if (!this.#controller.signal.aborted) this.#controller.abort(reason);
  }
}
