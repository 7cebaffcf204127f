/** A guardrail set: several guardrails that check one text concurrently and return one verdict. */

import type {
  GuardrailOutcome,
  RequestFacts,
  TextContext,
  TextPart,
  Verdict,
} from "@sluice/contract";
import type { GuardrailSession } from "./guardrail-runner.ts";
import { JointVerdict, type SetVerdict } from "./joint-verdict.ts";
import { isEnforced, type SetPolicy } from "./set-policy.ts";
import { violation } from "./refusals.ts";

const NOTHING: SetVerdict = Object.freeze({ spans: [], block: undefined });

/**
 * Guardrails of one exchange that check together. Observing ones are called and reported, and
 * change nothing.
 */
export class GuardrailSet {
  readonly policy: SetPolicy;
  readonly #sessions: readonly GuardrailSession[];

  constructor(sessions: readonly GuardrailSession[], policy: SetPolicy) {
    this.#sessions = sessions;
    this.policy = policy;
  }

  get isEmpty(): boolean {
    return this.#sessions.length === 0;
  }

  /** Whether some of them check whole requests. */
  get admits(): boolean {
    return this.#sessions.some(({ instance }) => instance.guardrail.admit !== undefined);
  }

  /** The longest reach of the enforced ones. */
  get reach(): number {
    return Math.max(
      0,
      ...this.#sessions.filter(isEnforced).map(({ instance }) => instance.guardrail.reach),
    );
  }

  /** The set without guardrails that do not check such a text. */
  for(part: TextPart): GuardrailSet {
    const sessions = this.#sessions.filter(
      ({ instance }) => instance.settings.scope?.includes(part) ?? true,
    );
    return sessions.length === this.#sessions.length ? this : this.#of(sessions);
  }

  /** The set without guardrails of whole texts and those that call a service. */
  bounded(): GuardrailSet {
    const isBounded = ({ instance }: GuardrailSession): boolean =>
      instance.isRemote !== true && Number.isFinite(instance.guardrail.reach);
    return this.#of(this.#sessions.filter(isBounded));
  }

  /** The enforced guardrails, and the observing ones. */
  split(): { readonly enforced: GuardrailSet; readonly shadow: GuardrailSet } {
    return {
      enforced: this.#of(this.#sessions.filter(isEnforced)),
      shadow: this.#of(this.#sessions.filter((session) => !isEnforced(session))),
    };
  }

  /** The empty set. */
  none(): GuardrailSet {
    return this.#of([]);
  }

  /** The same guardrails, all observing. */
  asObservers(): GuardrailSet {
    const sessions = this.#sessions.filter(({ instance }) => instance.name !== "");
    return new GuardrailSet(sessions, this.policy.observing());
  }

  /** Only the guardrail that restores masked texts. */
  restorers(): GuardrailSet {
    return this.#of(this.#sessions.filter(({ instance }) => instance.name === ""));
  }

  /** One set for each guardrail, in order. */
  each(): readonly GuardrailSet[] {
    return this.#sessions.map((session) => this.#of([session]));
  }

  /**
   * The joint verdict, synchronous where all guardrails are. Throws `plugin_failed` for a failed
   * guardrail with `on_error: fail`.
   */
  check(text: string, context: TextContext): SetVerdict | Promise<SetVerdict> {
    const { direction } = context;
    let joint: JointVerdict | undefined;
    let pending: Promise<void>[] | undefined;
    for (const session of this.#sessions) {
      let verdict: Verdict | Promise<Verdict>;
      try {
        verdict = session.check(text, context);
      } catch (error) {
        this.policy.fail(session, error, direction);
        continue;
      }
      if (verdict instanceof Promise || "then" in verdict) {
        const into = (joint ??= new JointVerdict());
        const checking = (verdict as Promise<Verdict>).then(
          (settled) => this.#add(into, session, settled, direction),
          (error: unknown) => this.policy.fail(session, error, direction),
        );
        (pending ??= []).push(checking);
      } else if (verdict.kind !== "allow") {
        this.#add((joint ??= new JointVerdict()), session, verdict, direction);
      }
    }
    if (joint === undefined) return NOTHING;
    const all = joint;
    return pending === undefined
      ? all.end(text.length)
      : Promise.all(pending).then(() => all.end(text.length));
  }

  /**
   * Reports that no guardrail of the set checked all of a text. It appears in rows and metrics, as
   * failures do.
   */
  missed(direction: GuardrailOutcome["direction"], maxCharacters: number): void {
    for (const session of this.#sessions) {
      session.missed(maxCharacters);
      this.policy.report(session.instance.name, direction, "error", isEnforced(session));
    }
  }

  /** Checks the whole request. Throws `guardrail_violation` for a block. */
  async admit(request: RequestFacts): Promise<void> {
    for (const session of this.#sessions) {
      let verdict: Verdict;
      try {
        // oxlint-disable-next-line no-await-in-loop -- the first refusal is the answer.
        verdict = await session.admit(request);
      } catch (error) {
        this.policy.fail(session, error, "input");
        continue;
      }
      if (verdict.kind === "allow") continue;
      this.policy.report(session.instance.name, "input", "block", isEnforced(session));
      if (isEnforced(session)) throw violation(session.instance.name);
    }
  }

  #of(sessions: readonly GuardrailSession[]): GuardrailSet {
    return new GuardrailSet(sessions, this.policy);
  }

  /** Adds the verdict of an enforced guardrail; that of an observing one is only reported. */
  #add(
    joint: JointVerdict,
    session: GuardrailSession,
    verdict: Verdict,
    direction: GuardrailOutcome["direction"],
  ): void {
    if (verdict.kind === "allow") return;
    const { name } = session.instance;
    if (this.policy.enforces(session)) joint.add(name, verdict);
    else this.policy.report(name, direction, verdict.kind, false);
  }
}
