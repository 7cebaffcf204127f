/** The limits of models that stand in for the one of the entry: they hold for its calls too. */

import type { Exchange, Identity, Model } from "@sluice/contract";
import { CUSTOMER } from "@sluice/runtime";
import type { LimitResolver } from "./rules/resolver.ts";
import { keyOf, type Rule, type RuleSet } from "./rules/rule.ts";

const NO_RULES: readonly Rule[] = Object.freeze([]);

/** The models that stand in during one exchange. */
export class StandIns {
  readonly #resolver: LimitResolver;
  readonly #entry: RuleSet;
  readonly #model: Model | undefined;
  /** The ids of those whose requests and slots are taken. */
  #taken: Set<string> | undefined;

  constructor(resolver: LimitResolver, entry: RuleSet, model: Model | undefined) {
    this.#resolver = resolver;
    this.#entry = entry;
    this.#model = model;
  }

  /** The rules of the call of an exchange that hold at its model, and not at that of the entry. */
  rulesFor(exchange: Exchange, identity: Identity): readonly Rule[] {
    const { model } = exchange;
    if (model === this.#model || model === undefined) return NO_RULES;
    const own = this.#resolver.of(identity, model);
    const set = this.#resolver.withCustomer(own, identity, model, CUSTOMER.get(exchange));
    const ofModel = set.rules.filter((rule) => rule.isOfModel);
    if (ofModel.length === 0) return NO_RULES;
    const known = new Set(this.#entry.rules.map(keyOf));
    const isTaken = this.#taken?.has(model.id) === true;
    return ofModel.filter(
      (rule) =>
        !known.has(keyOf(rule)) &&
        !(isTaken && (rule.kind === "requests" || rule.kind === "slots")),
    );
  }

  /** A call at a model is admitted: later ones take none of its requests and slots. */
  granted(model: Model | undefined): void {
    if (model !== undefined && model !== this.#model) (this.#taken ??= new Set()).add(model.id);
  }
}
