/** Files that two people changed: before, theirs, yours, and the ways out. */

import { Button } from "../../parts/button.tsx";
import { Notice } from "../../parts/marks.tsx";
import { TextDiff } from "../../parts/text-diff.tsx";
import { type Clash, settle } from "./drafts.ts";

/** The panel. Nothing is shown without a clash. */
export function ClashPanel({ clashes }: { readonly clashes: readonly Clash[] }) {
  if (clashes.length === 0) return null;
  return (
    <Notice tone="warn" isLoud>
      <p>
        The files have changed since this edit was begun. Choose for each file that both edits
        change.
      </p>
      {clashes.map((clash) => (
        <ClashView key={clash.file} clash={clash} />
      ))}
    </Notice>
  );
}

function ClashView({ clash }: { readonly clash: Clash }) {
  const { file, before, theirs, yours, both } = clash;
  return (
    <section class="clash stack-s" aria-label={`Both edits of ${file}`}>
      <h3>{file}</h3>
      <div class="sides">
        <div class="stack-s">
          <h4>Theirs</h4>
          <TextDiff name={`${file} (theirs)`} before={before} after={theirs} />
        </div>
        <div class="stack-s">
          <h4>Yours</h4>
          <TextDiff name={`${file} (yours)`} before={before} after={yours} />
        </div>
      </div>
      <p class="muted">
        {both === undefined
          ? "Both edits change the same lines."
          : "The edits change different lines, and fit together."}
      </p>
      <div class="row">
        {both !== undefined && (
          <Button kind="primary" onClick={() => settle(file, both)}>
            Keep both
          </Button>
        )}
        <Button onClick={() => settle(file, theirs)}>Take theirs</Button>
        <Button onClick={() => settle(file, yours)}>Keep yours</Button>
      </div>
    </section>
  );
}
