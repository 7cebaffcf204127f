/** The exchange that a step in shadow works on: it begins as the real one is, and nothing that is set on it has an effect. */

import { type ExchangeServices, SERVICES, shadowSlots } from "@sluice/kit/internals";
import { openAttempt } from "@sluice/runtime";
import type { Attempt, AttemptWriter, Exchange, GatewayError, GatewayRequest, Lifetime, Slots, Target } from "@sluice/contract";

/** What a step in shadow may see and set. Attempts are the real ones, and so are prices; all else is its own. */
export class ShadowExchange implements Exchange, ExchangeServices {
  readonly #real: Exchange;
  readonly #controller = new AbortController();
  readonly #follow: () => void;
  readonly id: string;
  readonly operation: Exchange["operation"];
  readonly client: Exchange["client"];
  readonly lifetime: Lifetime;
  readonly headers: Map<string, string>;
  readonly slots: Slots;
  request: GatewayRequest | undefined;
  identity: Exchange["identity"];
  model: Exchange["model"];
  target: Exchange["target"];
  reply: Exchange["reply"];

  constructor(real: Exchange) {
    this.#real = real;
    this.id = real.id;
    this.operation = real.operation;
    this.client = real.client;
    this.lifetime = real.lifetime;
    this.headers = new Map(real.headers);
    this.slots = shadowSlots(real.slots);
    SERVICES.set(this, this);
    this.request = real.request;
    this.identity = real.identity;
    this.model = real.model;
    this.target = real.target;
    this.reply = undefined;
    this.#follow = () => this.end(real.signal.reason as GatewayError);
    if (real.signal.aborted) this.#follow();
    else real.signal.addEventListener("abort", this.#follow, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get attempts(): readonly Attempt[] {
    return this.#real.attempts;
  }

  async readBody(): Promise<GatewayRequest | undefined> {
    return SERVICES.get(this.#real)?.readBody();
  }

  /** No upstream call is made in shadow: this opens a record that is not listed. */
  openAttempt({ model, lifetime }: Exchange, target: Target, provider: string): AttemptWriter {
    return openAttempt({ number: 0, target, model, provider, startedAtMs: lifetime.startedAtMs });
  }

  get hold(): ExchangeServices["hold"] {
    return SERVICES.get(this.#real)?.hold;
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
