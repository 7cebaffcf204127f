/** The look of the editor, in the colours of the page. Custom properties reach into the shadow. */

import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Colours of words. */
export const COLOURS = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--accent)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--warn)" },
  { tag: [tags.keyword, tags.labelName, tags.typeName], color: "var(--chart-3)" },
  {
    tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace],
    color: "var(--muted)",
  },
]);

/** The rest. */
export const LOOK = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)" },
  "&.cm-focused": { outline: "none" },
  // Above the numbers of the lines, which stay in place when the text moves sideways.
  "&.cm-focused::after": {
    content: '""',
    position: "absolute",
    inset: "0",
    zIndex: "400",
    border: "2px solid var(--accent)",
    borderRadius: "0 var(--radius) var(--radius) 0",
    pointerEvents: "none",
  },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    fontSize: "var(--text-s)",
    lineHeight: "1.55",
    overflow: "auto",
  },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    color: "var(--muted)",
    backgroundColor: "var(--sunken)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine": { backgroundColor: "color-mix(in oklab, var(--accent) 6%, transparent)" },
  ".cm-activeLineGutter": { color: "var(--text)", backgroundColor: "var(--hover)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "color-mix(in oklab, var(--accent) 28%, transparent) !important",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in oklab, var(--warn) 22%, transparent)" },
  ".cm-matchingBracket": { outline: "1px solid var(--edge)", backgroundColor: "transparent" },
  ".cm-tooltip": {
    maxWidth: "36rem",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius-s)",
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    boxShadow: "var(--float)",
    fontFamily: "var(--font)",
    fontSize: "var(--text-s)",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16rem" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "0.15rem 0.5rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    color: "var(--accent-strong)",
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
  ".cm-completionInfo, .cm-meaning": { padding: "0.4rem 0.6rem", whiteSpace: "pre-wrap" },
  ".cm-diagnostic": { borderLeft: "3px solid var(--bad)", padding: "0.3rem 0.6rem" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "0.25em",
  },
  ".cm-lint-marker-error": {
    content: "none",
    width: "0.6rem",
    height: "0.6rem",
    borderRadius: "50%",
    backgroundColor: "var(--bad)",
  },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--sunken)" },
  ".cm-panel input, .cm-panel button": {
    color: "var(--text)",
    background: "var(--surface)",
    border: "1px solid var(--edge)",
    borderRadius: "var(--radius-s)",
    font: "inherit",
  },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn)" },
  ".cm-foldPlaceholder": { color: "var(--muted)", background: "var(--hover)", border: "0" },
});
