/** Copies a text, and says that it did. */

import { useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";

const SAID_MS = 2_500;

/** A button that copies. */
export function CopyButton(props: {
  readonly text: () => string;
  readonly label?: string;
  readonly children?: string;
  readonly kind?: "primary" | "quiet";
  readonly onCopied?: () => void;
}) {
  const { text, label = "Copy", children, kind = "quiet", onCopied } = props;
  const [said, say] = useState<"" | "Copied" | "Not copied: select the text">("");
  const timer = useRef(0);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      say("Copied");
      onCopied?.();
    } catch {
      say("Not copied: select the text");
    }
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => say(""), SAID_MS);
  };
  return (
    <>
      <Button
        kind={kind}
        icon={said === "Copied" ? "check" : "copy"}
        onClick={() => void copy()}
        {...(children === undefined && { label })}
      >
        {children === undefined ? undefined : said === "" ? children : said}
      </Button>
      <span class="unseen" role="status">
        {said}
      </span>
    </>
  );
}

/** A command line with a button that copies it. */
export function Command({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="command" role="group" aria-label={label}>
      <pre>{text}</pre>
      <CopyButton text={() => text} label={`Copy: ${label}`} />
    </div>
  );
}
