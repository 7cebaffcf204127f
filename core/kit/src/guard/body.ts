/** Whole bodies under guard: every text judged, edits written back, the first offence thrown. */

import type { EditSpan, TextContext } from "@sluice/spec";
import { type Panel, type PanelSpan, type PanelVerdict } from "./panel.ts";
import { nextTurn } from "../transport/turns.ts";
import { SLICE } from "./slices.ts";
import { applySpans } from "./spans.ts";
import type { BodyText } from "./texts.ts";
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

/** Judges the texts of a body. Returns the edited ones. Throws `guardrail_violation`, or `plugin_failed` for a guardrail that failed. */
export async function judgeTexts(texts: readonly BodyText[], options: BodyOptions): Promise<Map<BodyText, string>> {
  const edits = new Map<BodyText, string>();
  const panels = options.order === "parallel" ? [options.panel] : options.panel.each();
  for (const panel of panels) {
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
      const judged = judgeText(text, panel, options, edits);
      if (judged === undefined) continue;
      pending.push(judged);
      if (pending.length < AT_ONCE) continue;
      // oxlint-disable-next-line no-await-in-loop -- so many at a time and no more.
      await Promise.all(pending);
      pending = [];
    }
    // oxlint-disable-next-line no-await-in-loop -- the next guardrail judges what this one left.
    await Promise.all(pending);
  }
  return edits;
}

function judgeText(text: BodyText, whole: Panel, options: BodyOptions, edits: Map<BodyText, string>): Promise<void> | undefined {
  const panel = whole.for(text.part);
  if (panel.isEmpty) return undefined;
  const now = edits.get(text) ?? text.text;
  const context = Object.freeze({ ...options.context, part: text.part, place: text.path.join("."), isPartial: false, offset: 0 });
  const decide = (verdict: PanelVerdict): void => {
    const edited = decided(text, now, verdict, panel, options);
    if (edited !== undefined) edits.set(text, edited);
  };
  const verdict = panel.check(now, context);
  if (verdict instanceof Promise) return verdict.then(decide);
  decide(verdict);
  return undefined;
}

function decided(
  { isFixed, borders }: BodyText,
  now: string,
  { spans, block }: PanelVerdict,
  panel: Panel,
  { context, vault }: BodyOptions,
): string | undefined {
  const isBlocked = block !== undefined && crosses(borders, block.start, block.end);
  const unfit = isFixed === true ? spans.find(({ start, end }) => crosses(borders, start, end)) : undefined;
  if (isBlocked) panel.refuse(block, context.direction);
  if (unfit !== undefined) panel.refuse({ guardrail: unfit.guardrail, askAgain: false }, context.direction);
  if (spans.length === 0 || isFixed === true) return undefined;
  for (const { guardrail } of spans) panel.report(guardrail, context.direction, "edit");
  return applySpans(
    now,
    spans.map((span) => masked(span, now, vault)),
  );
}

/** Whether a stretch goes over a border. Of a text without borders everything counts. */
function crosses(borders: readonly number[] | undefined, start: number | undefined, end: number | undefined): boolean {
  if (borders === undefined || start === undefined || end === undefined) return true;
  return borders.some((border) => start < border && border < end);
}

function masked(span: PanelSpan, text: string, vault: Vault | undefined): EditSpan {
  if (span.restore !== true) return span;
  const original = text.slice(span.start, span.end);
  return { ...span, replacement: vault === undefined ? `[${span.replacement}]` : vault.placeholder(span.replacement, original) };
}
