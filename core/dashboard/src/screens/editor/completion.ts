/** Completion and help of the editor, asked of the gateway. */

import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { hoverTooltip, type Tooltip } from "@codemirror/view";
import type { Completed } from "../../api/config.ts";

/** Asks for a place of the text. `undefined`: there is no answer. */
export type AskCompletion = (
  text: string,
  offset: number,
  signal: AbortSignal,
) => Promise<Completed | undefined>;

/** The extensions. */
export function completionBy(ask: AskCompletion): Extension {
  return [
    autocompletion({
      override: [(context) => completionsOf(context, ask)],
      // Each key stroke would ask once more.
      activateOnTypingDelay: 150,
    }),
    hoverTooltip((view, at) => helpOf(view.state.doc.toString(), at, ask), { hoverTime: 400 }),
  ];
}

async function completionsOf(
  context: CompletionContext,
  ask: AskCompletion,
): Promise<CompletionResult | null> {
  const { pos, explicit, state } = context;
  // A blank line is completed on request.
  if (!explicit && context.matchBefore(/[\w${:./-]$|[:[,{-] $/) === null) return null;
  const ends = new AbortController();
  context.addEventListener("abort", () => ends.abort());
  const answer = await ask(state.doc.toString(), pos, ends.signal);
  if (answer === undefined || answer.completions.length === 0) return null;
  return {
    from: answer.from,
    to: answer.to,
    filter: false,
    options: answer.completions.map(({ label, insert, kind, detail, about }, index) => ({
      label,
      apply: insert,
      type: TYPES[kind],
      boost: -index / 10,
      ...(detail !== null && { detail }),
      ...(about !== null && { info: about }),
    })),
  };
}

const TYPES: Readonly<Record<Completed["completions"][number]["kind"], string>> = {
  key: "property",
  value: "constant",
  name: "variable",
  reference: "text",
};

async function helpOf(text: string, at: number, ask: AskCompletion): Promise<Tooltip | null> {
  const answer = await ask(text, at, AbortSignal.timeout(5_000));
  const help = answer?.help;
  if (answer === undefined || help === null || help === undefined) return null;
  return {
    pos: answer.from,
    end: answer.to,
    above: true,
    create: () => ({ dom: helpView(help) }),
  };
}

function helpView({ title, about, type, preset }: NonNullable<Completed["help"]>): HTMLElement {
  const view = document.createElement("div");
  view.className = "cm-meaning";
  const head = document.createElement("strong");
  head.textContent = title;
  const facts = [type, preset === null ? null : `default ${preset}`].filter((one) => one !== null);
  const more = document.createElement("span");
  more.textContent = facts.length === 0 ? "" : ` ${facts.join(", ")}`;
  const words = document.createElement("div");
  words.textContent = about ?? "";
  view.append(head, more, words);
  return view;
}
