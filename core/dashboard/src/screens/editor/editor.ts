/**
 * The text editor: CodeMirror in a shadow root, where its styles are constructed sheets and the
 * policy of the page needs no exception.
 */

import { completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  tooltips,
} from "@codemirror/view";
import { type AskCompletion, completionBy } from "./completion.ts";
import { COLOURS, LOOK } from "./editor-look.ts";

/** A fault at a place of the text. Lines and columns begin with 1. */
export interface Fault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** What the editor asks of its screen. */
export interface EditorParts {
  readonly label: string;
  readonly onChange: (text: string) => void;
  readonly complete: AskCompletion;
}

/** An editor on the page. */
export interface TextEditor {
  /** Shows another text: of another file, or from elsewhere. */
  show(text: string, isReadOnly: boolean): void;
  setFaults(faults: readonly Fault[]): void;
  /** Moves to a line and takes the focus. */
  goTo(line: number): void;
  end(): void;
}

/** Puts an editor into an element. */
export function createEditor(place: HTMLElement, parts: EditorParts): TextEditor {
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  root.replaceChildren();
  const readOnly = new Compartment();
  let isShowing = false;
  const extensions = [
    ...baseExtensions(parts),
    readOnly.of(EditorState.readOnly.of(false)),
    EditorView.updateListener.of((update) => {
      if (update.docChanged && !isShowing) parts.onChange(update.state.doc.toString());
    }),
  ];
  const stateOf = (text: string): EditorState => EditorState.create({ doc: text, extensions });
  const view = new EditorView({ state: stateOf(""), parent: root, root });
  return {
    show(text, isReadOnly) {
      if (view.state.doc.toString() !== text) {
        isShowing = true;
        // A state of its own: undo does not bring back the text of another file.
        view.setState(stateOf(text));
        isShowing = false;
      }
      view.dispatch({ effects: readOnly.reconfigure(EditorState.readOnly.of(isReadOnly)) });
    },
    setFaults(faults) {
      view.dispatch(
        setDiagnostics(
          view.state,
          faults.map((fault) => diagnosticOf(view, fault)),
        ),
      );
    },
    goTo(line) {
      const at = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
      view.dispatch({
        selection: { anchor: at.from },
        effects: EditorView.scrollIntoView(at.from, { y: "center" }),
      });
      view.focus();
    },
    end: () => view.destroy(),
  };
}

/**
 * Typed characters become transactions before the browser edits the page: its own edit keeps the
 * style of what is replaced in an attribute, which the policy of the page refuses.
 */
const TYPING = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data } = event;
    if (inputType !== "insertText" || data === null || view.composing || view.state.readOnly)
      return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(data), {
      userEvent: "input.type",
      scrollIntoView: true,
    });
    return true;
  },
});

function baseExtensions(parts: EditorParts) {
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    highlightSelectionMatches(),
    yaml(),
    LOOK,
    syntaxHighlighting(COLOURS),
    tooltips({ position: "fixed" }),
    completionBy(parts.complete),
    // Tab indents; Esc and then Tab leaves the editor (WCAG 2.1.2).
    keymap.of([
      ...completionKeymap,
      ...searchKeymap,
      ...lintKeymap,
      ...foldKeymap,
      ...historyKeymap,
      ...defaultKeymap,
      indentWithTab,
    ]),
    TYPING,
    EditorView.contentAttributes.of({ "aria-label": parts.label, tabindex: "0" }),
    EditorState.tabSize.of(2),
  ];
}

function diagnosticOf({ state }: EditorView, { line, column, message }: Fault): Diagnostic {
  const at = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)));
  const from = Math.min(at.from + Math.max(0, column - 1), at.to);
  const word = state.wordAt(from);
  const to = Math.max(word?.to ?? at.to, from);
  return {
    from,
    to: to === from ? Math.min(from + 1, state.doc.length) : to,
    severity: "error",
    message,
  };
}
