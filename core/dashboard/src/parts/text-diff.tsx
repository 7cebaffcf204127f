/** Two texts, line by line: what went and what came. */

import { structuredPatch } from "diff";

const CONTEXT = 3;

/** The difference of two texts. */
export function TextDiff(props: {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}) {
  const { name, before, after } = props;
  const { hunks } = structuredPatch(name, name, before, after, "", "", { context: CONTEXT });
  if (hunks.length === 0) return null;
  return (
    // A scrollable region must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div class="diff" tabIndex={0} role="region" aria-label={`Changes of ${name}`}>
      <p class="diff-name">{name}</p>
      {hunks.map(({ oldStart, newStart, lines }) => (
        <Hunk key={`${oldStart} ${newStart}`} start={newStart} lines={lines} />
      ))}
    </div>
  );
}

function Hunk({ start, lines }: { readonly start: number; readonly lines: readonly string[] }) {
  let line = start - 1;
  return (
    <pre>
      {lines.map((text, index) => {
        const sign = text[0] ?? " ";
        if (sign !== "-") line += 1;
        const kind = sign === "+" ? "ins" : sign === "-" ? "del" : "same";
        return (
          <span key={`${index} ${text}`} class={`diff-line ${kind}`}>
            <span class="diff-number" aria-hidden="true">
              {sign === "-" ? "" : line}
            </span>
            <span class="unseen">{sign === "+" ? "added " : sign === "-" ? "removed " : ""}</span>
            <span aria-hidden="true">{sign}</span>
            {text.slice(1)}
            {"\n"}
          </span>
        );
      })}
    </pre>
  );
}

/** Files of two sides that differ, each as a difference. */
export function FilesDiff(props: {
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}) {
  const { before, after } = props;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changed = names.filter((name) => before[name] !== after[name]);
  if (changed.length === 0) return <p class="muted">The files are equal.</p>;
  return (
    <div class="stack-s">
      {changed.map((name) => (
        <TextDiff key={name} name={name} before={before[name] ?? ""} after={after[name] ?? ""} />
      ))}
    </div>
  );
}
