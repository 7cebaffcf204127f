/** Generations and refused attempts, newest first. */

import type { Attempt, Author, ConfigHistory, Generation } from "../../api/config.ts";
import { href } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { Mark, When } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { RiskMark } from "../../records/effects.tsx";

type Entry =
  | { readonly at: string; readonly generation: Generation }
  | { readonly at: string; readonly attempt: Attempt };

/** The timeline. Attempts that became a generation are shown as that. */
export function Timeline(props: {
  readonly history: ConfigHistory;
  readonly onRollback?: (to: Generation) => void;
}) {
  const { history, onRollback } = props;
  const entries: readonly Entry[] = [
    ...history.generations.map((generation) => ({ at: generation.at, generation })),
    ...history.attempts
      .filter(({ outcome }) => outcome === "refused")
      .map((attempt) => ({ at: attempt.at, attempt })),
  ].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  if (entries.length === 0) return <Empty icon="history" title="No history yet" />;
  return (
    <Panel title="Timeline" isFlush>
      <ol class="timeline">
        {entries.map((entry) =>
          "generation" in entry ? (
            <GenerationItem
              key={`generation ${entry.generation.generation}`}
              generation={entry.generation}
              {...(onRollback !== undefined && { onRollback })}
            />
          ) : (
            <RefusedItem key={`attempt ${entry.at}`} attempt={entry.attempt} />
          ),
        )}
      </ol>
    </Panel>
  );
}

function GenerationItem(props: {
  readonly generation: Generation;
  readonly onRollback?: (to: Generation) => void;
}) {
  const { generation, onRollback } = props;
  const { is_live: isLive, returned, changes, effects } = generation;
  const mayReturn = !isLive && returned === null && onRollback !== undefined;
  return (
    <li class={isLive ? "live" : undefined}>
      <div class="row spread">
        <span class="row">
          <a href={href(["history", String(generation.generation)])}>
            <strong>Generation {generation.generation}</strong>
          </a>
          {isLive && <Mark tone="accent">live</Mark>}
          <RiskMark risk={generation.risk} />
          {generation.forced && <Mark tone="warn">forced</Mark>}
          {returned !== null && <Mark tone="warn">returned</Mark>}
        </span>
        <span class="row">
          {mayReturn && <Button onClick={() => onRollback(generation)}>Roll back to it</Button>}
          <When at={generation.at} />
        </span>
      </div>
      <p class="muted">
        {originText(generation)}
        {changes.length > 0 && `: ${changes.join(", ")}`}
      </p>
      {returned !== null && <p class="small">Returned because {returned}</p>}
      {generation.reason !== null && <p class="small">Because {generation.reason}</p>}
      {effects.length > 0 && (
        <p class="small">
          {effects[0]?.about}: {effects[0]?.message}
          {effects.length > 1 && (
            <a href={href(["history", String(generation.generation)])}>
              {" "}
              and {effects.length - 1} more
            </a>
          )}
        </p>
      )}
    </li>
  );
}

function RefusedItem({ attempt }: { readonly attempt: Attempt }) {
  return (
    <li class="refused">
      <div class="row spread">
        <span class="row">
          <strong>Refused</strong>
          <Mark tone="bad">nothing changed</Mark>
        </span>
        <When at={attempt.at} />
      </div>
      {attempt.author !== null && <p class="muted">by {attempt.author}</p>}
      {attempt.reason !== null && <p class="small">{attempt.reason}</p>}
      {attempt.findings.map(({ text, file, line, column, message, fix }) => (
        <p key={text} class="small refusal">
          <code>
            {file}:{line}:{column}
          </code>
          <span>{message}</span>
          <span class="muted">{fix}</span>
        </p>
      ))}
    </li>
  );
}

const ORIGINS: Readonly<Record<string, string>> = {
  start: "The start of the gateway",
  files: "An edit of the files",
  push: "A push to the store",
  rollback: "A rollback",
  last_good: "A start from the last good contents",
  canary: "A canary",
};

/** How a generation came to be. */
export function originText({ origin, contents_of: of, author }: Generation): string {
  const how = ORIGINS[origin ?? ""] ?? origin ?? "An edit";
  const contents = of === null ? "" : ` to generation ${of}`;
  const by = authorText(author);
  return `${how}${contents}${by === "" ? "" : `, ${by}`}`;
}

function authorText(author: Author | null): string {
  if (author === null) return "";
  if (author.from === "file") return "by a save";
  if (author.from === "gateway") return `by the gateway (${author.name})`;
  return `by ${author.name}`;
}
