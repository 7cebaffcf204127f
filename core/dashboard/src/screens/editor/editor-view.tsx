/** The text editor of one file. Its code is loaded when it is shown first. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Finding } from "../../api/config.ts";
import { Notice } from "../../parts/marks.tsx";
import type { AskCompletion } from "./completion.ts";
import type { EditorParts, TextEditor } from "./editor.ts";

interface EditorViewProps {
  readonly file: string;
  readonly text: string;
  /** The text as it is by now: what is typed is drawn later. */
  readonly now: () => string;
  readonly line: number | undefined;
  readonly isReadOnly: boolean;
  readonly findings: readonly Finding[];
  readonly onChange: (text: string) => void;
  readonly complete: AskCompletion;
}

/** The editor. */
export function EditorView(props: EditorViewProps) {
  const { file, text, line, isReadOnly, findings } = props;
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const { editor, isFailed } = useEditor(place, latest);
  // The effect runs after the paint: a text that was drawn would undo what was typed since.
  useEffect(() => editor?.show(latest.current.now(), isReadOnly), [editor, text, isReadOnly]);
  useEffect(() => {
    if (line !== undefined) editor?.goTo(line);
  }, [editor, line]);
  useEffect(
    () =>
      editor?.setFaults(
        findings.map(({ line: at, column, message, fix }) => ({
          line: at,
          column,
          message: `${message}  ${fix}`,
        })),
      ),
    [editor, findings, text],
  );
  return (
    <div class="editor-frame">
      {isFailed && (
        <Notice tone="bad">The editor could not be loaded. Reload the page to try again.</Notice>
      )}
      <p class="unseen" id="editor-keys">
        Tab indents. Press Esc and then Tab to leave the editor.
      </p>
      <div
        ref={place}
        class="editor-place"
        role="group"
        aria-label={file}
        aria-describedby="editor-keys"
      />
    </div>
  );
}

function useEditor(
  place: { readonly current: HTMLDivElement | null },
  latest: { readonly current: EditorViewProps },
): { readonly editor: TextEditor | undefined; readonly isFailed: boolean } {
  const [editor, setEditor] = useState<TextEditor>();
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    let made: TextEditor | undefined;
    let isGone = false;
    import("./editor.ts").then(
      ({ createEditor }) => {
        if (isGone || place.current === null) return;
        made = createEditor(place.current, partsOf(latest));
        setEditor(made);
      },
      () => setFailed(true),
    );
    return () => {
      isGone = true;
      made?.end();
    };
  }, []);
  return { editor, isFailed };
}

function partsOf(latest: { readonly current: EditorViewProps }): EditorParts {
  return {
    label: latest.current.file,
    onChange: (text) => latest.current.onChange(text),
    complete: (text, offset, signal) => latest.current.complete(text, offset, signal),
  };
}
