/** Whole bodies under guard: every text judged, edits written back, the first offence thrown. */

import type { TextContext } from "@sluice/spec";
import { type Panel, type PanelSpan, type PanelVerdict } from "./panel.ts";
import { nextTurn } from "../transport/turns.ts";
import { Joined } from "./join.ts";
import { SLICE } from "./slices.ts";
import { applySpans, orderSpans } from "./spans.ts";
import type { BodyText } from "./body-text.ts";
import type { Vault } from "./vault.ts";

/** Texts that guardrails judge at the same time, where they take their time. */
const AT_ONCE = 8;

/** How bodies are judged. */
export interface BodyOptions {
  readonly panel: Panel;
  /** All at once on the text as it is, or one after the other, each on what the one before left. */
  readonly order: "parallel" | "sequence";
  readonly context: Omit<TextContext, "part" | "place" | "isPartial" | "offset">;
  /** Takes what is masked and comes back. Absent: nothing comes back. */
  readonly vault?: Vault;
}

/** What one panel wants edited. */
type Spans = Map<BodyText, PanelSpan[]>;

/** Judges the texts of a body. Returns the edited ones. Throws `guardrail_violation`, or `plugin_failed` for a guardrail that failed. */
export async function judgeTexts(texts: readonly BodyText[], options: BodyOptions): Promise<Map<BodyText, string>> {
  const edits = new Map<BodyText, string>();
  const panels = options.order === "parallel" ? [options.panel] : options.panel.each();
  for (const panel of panels) {
    const spans: Spans = new Map();
    const judging = new BodyJudge(panel, options, { edits, spans });
    let pending: Promise<void>[] = [];
    let characters = 0;
    for (const text of texts) {
      // Many short texts are as much work as a long one.
      characters += text.text.length;
      if (characters > SLICE) {
        characters = text.text.length;
        // oxlint-disable-next-line no-await-in-loop -- so much in a turn and no more.
        await nextTurn();
      }
      const judged = judging.judge(text);
      if (judged === undefined) continue;
      pending.push(judged);
      if (pending.length < AT_ONCE) continue;
      // oxlint-disable-next-line no-await-in-loop -- so many at a time and no more.
      await Promise.all(pending);
      pending = [];
    }
    // oxlint-disable-next-line no-await-in-loop -- the next guardrail judges what this one left.
    await Promise.all(pending);
    for (const [text, wanted] of spans) {
      const now = edits.get(text) ?? text.text;
      edits.set(text, applySpans(now, orderSpans(wanted, now.length, Infinity)));
    }
  }
  return edits;
}

/** One panel over the texts of one body. What it edits counts when all of them are judged. */
class BodyJudge {
  readonly #panel: Panel;
  readonly #options: BodyOptions;
  readonly #edits: ReadonlyMap<BodyText, string>;
  readonly #spans: Spans;

  constructor(
    panel: Panel,
    options: BodyOptions,
    { edits, spans }: { readonly edits: ReadonlyMap<BodyText, string>; readonly spans: Spans },
  ) {
    this.#panel = panel;
    this.#options = options;
    this.#edits = edits;
    this.#spans = spans;
  }

  judge(text: BodyText): Promise<void> | undefined {
    const { parts, separator = "", part, path, isBare = false } = text;
    const own = this.#panel.for(part);
    // Whoever judges whole texts reads joined ones once, however they are joined.
    const panel = separator === "" && !isBare ? own : own.bounded();
    if (panel.isEmpty) return undefined;
    const joined = parts === undefined ? undefined : new Joined(parts, separator, (one) => this.#now(one));
    const now = joined?.text ?? this.#now(text);
    const place = path.join(".");
    const context = Object.freeze({ ...this.#options.context, part, place, isPartial: false, offset: 0 });
    const decide = (verdict: PanelVerdict): void => {
      if (joined === undefined) this.#decide(text, now, verdict, panel);
      else this.#decideJoined(joined, verdict, panel);
    };
    const verdict = panel.check(now, context);
    if (verdict instanceof Promise) return verdict.then(decide);
    decide(verdict);
    return undefined;
  }

  #now(text: BodyText): string {
    return this.#edits.get(text) ?? text.text;
  }

  #decide(text: BodyText, now: string, { spans, block }: PanelVerdict, panel: Panel): void {
    const { direction } = this.#options.context;
    if (block !== undefined) panel.refuse(block, direction);
    const [first] = spans;
    if (first === undefined) return;
    if (text.isFixed === true) panel.refuse({ guardrail: first.guardrail, askAgain: false }, direction);
    for (const span of spans) this.#edit(text, this.#masked(span, now), panel);
  }

  /** Only what goes over a border: everything else was found where it stands. */
  #decideJoined(joined: Joined, { spans, block }: PanelVerdict, panel: Panel): void {
    if (block !== undefined && joined.crosses(block.start, block.end)) panel.refuse(block, this.#options.context.direction);
    for (const span of spans) {
      if (!joined.crosses(span.start, span.end)) continue;
      for (const piece of joined.spread(this.#masked(span, joined.text))) this.#edit(piece.part, piece.span, panel);
    }
  }

  #edit(text: BodyText, span: PanelSpan, panel: Panel): void {
    panel.report(span.guardrail, this.#options.context.direction, "edit");
    const wanted = this.#spans.get(text);
    if (wanted === undefined) this.#spans.set(text, [span]);
    else wanted.push(span);
  }

  #masked(span: PanelSpan, text: string): PanelSpan {
    if (span.restore !== true) return span;
    const { vault } = this.#options;
    const original = text.slice(span.start, span.end);
    const replacement = vault === undefined ? `[${span.replacement}]` : vault.placeholder(span.replacement, original);
    return { ...span, replacement };
  }
}
