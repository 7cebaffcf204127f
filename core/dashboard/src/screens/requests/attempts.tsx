/** The upstream calls of a request on one time axis, and their numbers as a table. */

import type { Trace, TraceAttempt } from "../../api/requests.ts";
import { count, duration, money } from "../../parts/format.ts";
import { Mark } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";

const COLUMNS: readonly Column<TraceAttempt>[] = [
  { name: "attempt", title: "Call", isHead: true, cell: ({ attempt }) => attempt },
  { name: "deployment", title: "Deployment", cell: (row) => row.deployment ?? "–" },
  { name: "outcome", title: "Outcome", cell: (row) => <Outcome row={row} /> },
  { name: "start", title: "Begins", isNumber: true, cell: (row) => duration(row.start_ms) },
  {
    name: "first",
    title: "First content",
    isNumber: true,
    cell: (row) => duration(row.first_content_ms),
  },
  { name: "end", title: "Ends", isNumber: true, cell: (row) => duration(row.end_ms) },
  { name: "in", title: "Tokens in", isNumber: true, cell: (row) => count(row.prompt_tokens) },
  { name: "out", title: "Tokens out", isNumber: true, cell: (row) => count(row.completion_tokens) },
  { name: "cost", title: "Cost", isNumber: true, cell: (row) => money(row.cost) },
  {
    name: "id",
    title: "Id at the upstream",
    cell: (row) =>
      row.upstream_request_id === null ? (
        <span class="muted">–</span>
      ) : (
        <code>{row.upstream_request_id}</code>
      ),
  },
];

/** What half a page has room for: the bars show begins and ends, the request's page the rest. */
const FEWER = COLUMNS.filter(({ name }) => !["start", "end", "id"].includes(name));

/** The panel. `isNarrow`: half a page. */
export function AttemptPanel(props: { readonly trace: Trace; readonly isNarrow?: boolean }) {
  const { trace, isNarrow = false } = props;
  const { attempts } = trace;
  return (
    <Panel title="Upstream calls" isFlush>
      {attempts.length === 0 ? (
        <Empty icon="info" title="No upstream was called">
          {trace.error === null
            ? "The gateway answered by itself."
            : "The gateway refused the request before any call."}
        </Empty>
      ) : (
        <>
          <Waterfall trace={trace} />
          <Table
            caption="Upstream calls"
            columns={isNarrow ? FEWER : COLUMNS}
            rows={attempts}
            keyOf={(row) => String(row.attempt)}
          />
        </>
      )}
    </Panel>
  );
}

function Outcome({ row }: { readonly row: TraceAttempt }) {
  const isGood = row.outcome === "success";
  return (
    <span class="row nowrap">
      <Mark tone={isGood ? "good" : row.outcome === "partial" ? "warn" : "bad"}>
        {row.status ?? row.outcome}
      </Mark>
      {row.error !== null && <span class="muted">{row.error}</span>}
    </span>
  );
}

/** Bars on one axis. The table below has the same numbers. */
function Waterfall({ trace }: { readonly trace: Trace }) {
  const { attempts } = trace;
  const ends = attempts.map(({ end_ms: end, start_ms: start }) => end ?? start ?? 0);
  const total = Math.max(trace.total_ms ?? 0, ...ends, 1);
  const part = (ms: number): string => `${(ms / total) * 100}%`;
  return (
    <ol class="waterfall" aria-hidden="true">
      {attempts.map((row) => {
        const start = row.start_ms ?? 0;
        const end = Math.max(row.end_ms ?? total, start);
        const first = Math.min(row.first_content_ms ?? end, end);
        const isGood = row.outcome === "success";
        return (
          <li key={row.attempt}>
            <span class="label">{row.deployment ?? row.provider}</span>
            <span class="lane">
              <span
                class={`wait ${isGood ? "" : "bad"}`}
                style={{ left: part(start), width: part(first - start) }}
              />
              <span
                class={`flow ${isGood ? "" : "bad"}`}
                style={{ left: part(first), width: part(end - first) }}
              />
            </span>
            <span class="num">{duration(end - start)}</span>
          </li>
        );
      })}
      <li class="axis">
        <span class="label" />
        <span class="lane">
          {[0, 0.25, 0.5, 0.75, 1].map((at) => (
            <span key={at} class="tick num" style={{ left: `${at * 100}%` }}>
              {duration(total * at)}
            </span>
          ))}
        </span>
        <span class="num" />
      </li>
    </ol>
  );
}
