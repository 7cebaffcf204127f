/**
 * Checks whole bodies: every text is checked, edits are written back, the first block is thrown.
 */

import type { TextContext } from "@sluice/contract";
import type { GuardrailSet } from "../guardrail-set.ts";
import type { SetSpan, SetVerdict } from "../joint-verdict.ts";
import { Stages } from "@sluice/kit";
import {
  applySpans,
  beginNow,
  type BodyText,
  type Ending,
  Joined,
  nextTurn,
  orderSpans,
} from "@sluice/kit/internals";
import { SLICE } from "./slices.ts";
import type { Vault } from "../vault.ts";

/** Maximum texts that an asynchronous guardrail checks concurrently. */
const AT_ONCE = 8;

/** Characters that take as long as the call of a guardrail for a text, and its edit. */
const TEXT_CHARACTERS = 64;

/** Options for a check of a body. */
export interface BodyOptions {
  readonly set: GuardrailSet;
  /**
   * `parallel`: all guardrails check the original text. `sequence`: each checks the text that the
   * previous one edited.
   */
  readonly order: "parallel" | "sequence";
  readonly context: Omit<TextContext, "part" | "place" | "isPartial" | "offset">;
  /** Receives masked texts that are restored in the reply. Absent: nothing is restored. */
  readonly vault?: Vault;
  /** Ends the check of many texts. */
  readonly ending: Ending;
}

/** The edits of one guardrail set. */
type Spans = Map<BodyText, SetSpan[]>;

/**
 * Checks the texts of a body. Returns the edited ones. Throws `guardrail_violation`, or
 * `plugin_failed` for a guardrail that failed. Rejects with the reason of an ending that comes
 * between two turns.
 */
export async function checkTexts(
  texts: readonly BodyText[],
  options: BodyOptions,
): Promise<Map<BodyText, string>> {
  const edits = new Map<BodyText, string>();
  const sets = options.order === "parallel" ? [options.set] : options.set.each();
  for (const set of sets) {
    const spans: Spans = new Map();
    const check = new BodyCheck(set, options, { edits, spans });
    let pending: Promise<void>[] = [];
    let characters = 0;
    for (const text of texts) {
      // Many short texts are as much work as a long one.
      const cost = text.text.length + TEXT_CHARACTERS;
      characters += cost;
      if (characters > SLICE) {
        characters = cost;
        // oxlint-disable-next-line no-await-in-loop -- a bounded amount of work for each turn.
        await nextTurn(options.ending);
      }
      const running = check.run(text);
      if (running === undefined) continue;
      pending.push(running);
      if (pending.length < AT_ONCE) continue;
      // oxlint-disable-next-line no-await-in-loop -- a bounded number of concurrent checks.
      await Promise.all(pending);
      pending = [];
    }
    // oxlint-disable-next-line no-await-in-loop -- the next guardrail checks the text that this one
    // edited.
    await Promise.all(pending);
    const clock = new Stages.Clock();
    for (const [text, wanted] of spans) {
      // oxlint-disable-next-line no-await-in-loop -- a bounded amount of work for each turn.
      if (clock.isOver()) await nextTurn(options.ending);
      const now = edits.get(text) ?? text.text;
      edits.set(text, applySpans(now, orderSpans(wanted, now.length, Infinity)));
    }
  }
  return edits;
}

/** One guardrail set over the texts of one body. Its edits apply after all texts are checked. */
class BodyCheck {
  readonly #set: GuardrailSet;
  readonly #options: BodyOptions;
  readonly #edits: ReadonlyMap<BodyText, string>;
  readonly #spans: Spans;

  constructor(
    set: GuardrailSet,
    options: BodyOptions,
    { edits, spans }: { readonly edits: ReadonlyMap<BodyText, string>; readonly spans: Spans },
  ) {
    this.#set = set;
    this.#options = options;
    this.#edits = edits;
    this.#spans = spans;
  }

  run(text: BodyText): Promise<void> | undefined {
    const { parts, separator = "", part, path, isBare = false } = text;
    const own = this.#set.for(part);
    // A guardrail of whole texts reads joined texts once, with one separator.
    const set = separator === "" && !isBare ? own : own.bounded();
    if (set.isEmpty) return undefined;
    const joined =
      parts === undefined ? undefined : new Joined(parts, separator, (one) => this.#now(one));
    const now = joined?.text ?? this.#now(text);
    const place = path.join(".");
    const context = Object.freeze({
      ...this.#options.context,
      part,
      place,
      isPartial: false,
      offset: 0,
    });
    const decide = (verdict: SetVerdict): Promise<void> | undefined => {
      if (joined !== undefined)
        return beginNow(this.#decideJoined(joined, verdict, set), this.#options.ending);
      this.#decide(text, now, verdict, set);
      return undefined;
    };
    const verdict = set.check(now, context);
    return verdict instanceof Promise ? verdict.then(decide) : decide(verdict);
  }

  #now(text: BodyText): string {
    return this.#edits.get(text) ?? text.text;
  }

  #decide(text: BodyText, now: string, { spans, block }: SetVerdict, set: GuardrailSet): void {
    const { direction } = this.#options.context;
    if (block !== undefined) set.policy.refuse(block, direction);
    const [first] = spans;
    if (first === undefined) return;
    if (text.isFixed === true)
      set.policy.refuse({ guardrail: first.guardrail, askAgain: false }, direction);
    for (const span of spans) this.#edit(text, this.#masked(span, now), set);
  }

  /** Only matches across a border count: all others were found in their own texts. */
  *#decideJoined(
    joined: Joined,
    { spans, block }: SetVerdict,
    set: GuardrailSet,
  ): Stages.Of<undefined> {
    const clock = new Stages.Clock();
    if (block !== undefined && joined.crosses(block.start, block.end))
      set.policy.refuse(block, this.#options.context.direction);
    for (const span of spans) {
      if (clock.isOver()) yield;
      if (!joined.crosses(span.start, span.end)) continue;
      for (const piece of joined.spread(this.#masked(span, joined.text)))
        this.#edit(piece.part, piece.span, set);
    }
    return undefined;
  }

  #edit(text: BodyText, span: SetSpan, set: GuardrailSet): void {
    set.policy.report(span.guardrail, this.#options.context.direction, "edit");
    const wanted = this.#spans.get(text);
    if (wanted === undefined) this.#spans.set(text, [span]);
    else wanted.push(span);
  }

  #masked(span: SetSpan, text: string): SetSpan {
    if (span.restore !== true) return span;
    const { vault } = this.#options;
    const original = text.slice(span.start, span.end);
    const replacement =
      vault === undefined ? `[${span.replacement}]` : vault.placeholder(span.replacement, original);
    return { ...span, replacement };
  }
}
