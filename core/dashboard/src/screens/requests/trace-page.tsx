/** The trace of one request: what each step decided, and each call of an upstream. */

import type { Trace } from "../../api/requests.ts";
import { useRead } from "../../app/live.ts";
import { href } from "../../app/route.ts";
import { LinkButton } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { atTime, duration, money } from "../../parts/format.ts";
import { Notice } from "../../parts/marks.tsx";
import { Facts, Head, Panel } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { Tile, Tiles } from "../../parts/tiles.tsx";
import { StatusMark } from "../../records/last-requests.tsx";
import { AttemptPanel } from "./attempts.tsx";
import { Steps } from "./steps.tsx";

/** The page. */
export function TracePage({ id }: { readonly id: string }) {
  const { data: trace, error, refetch } = useRead<Trace>(`/requests/${encodeURIComponent(id)}`);
  const parent = ["Requests", "#/requests"] as const;
  if (trace === undefined)
    return (
      <>
        <Head title={id} parent={parent} />
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}
      </>
    );
  return (
    <>
      <Head
        title={`${trace.model ?? trace.operation ?? "Request"}, ${atTime(trace.started_at)}`}
        parent={parent}
        marks={<StatusMark row={trace} />}
        actions={<Similar trace={trace} />}
      />
      <Summary trace={trace} />
      <AttemptPanel trace={trace} />
      <div class="columns wide-first">
        <Panel title="Steps" isFlush>
          {trace.steps === null ? (
            <div class="pad">
              <Notice>
                The ledger knows the upstream calls alone. Steps are kept in memory, for the newest
                requests.
              </Notice>
            </div>
          ) : (
            <Steps steps={trace.steps} />
          )}
        </Panel>
        <Panel title="What it was">
          <Facts rows={factsOf(trace)} />
        </Panel>
      </div>
    </>
  );
}

/** Other requests of the same kind. */
function Similar({ trace }: { readonly trace: Trace }) {
  const { model, error, key } = trace;
  return (
    <>
      {error !== null && (
        <LinkButton icon="requests" href={href(["requests"], { status: error })}>
          More with {error}
        </LinkButton>
      )}
      {model !== null && (
        <LinkButton icon="requests" href={href(["requests"], { model })}>
          More of {model}
        </LinkButton>
      )}
      {key?.id != null && (
        <LinkButton icon="key" href={href(["requests"], { key: key.id })}>
          More of this key
        </LinkButton>
      )}
    </>
  );
}

function Summary({ trace }: { readonly trace: Trace }) {
  const { attempts, total_ms: total, overhead_ms: overhead } = trace;
  const answered = attempts.at(-1);
  const costs = attempts.map(({ cost }) => cost);
  const cost = costs.includes(null)
    ? null
    : costs.reduce((sum: number, one) => sum + (one ?? 0), 0);
  const first = answered?.first_content_ms ?? null;
  return (
    <Tiles>
      <Tile name="Duration" value={duration(total)} more={`own work ${duration(overhead)}`} />
      <Tile
        name="First content"
        value={duration(first)}
        more={trace.stream === true ? "streamed" : "whole reply"}
      />
      <Tile
        name="Upstream calls"
        value={String(attempts.length)}
        more={attempts.length > 1 ? `${attempts.length - 1} before the last one` : ""}
      />
      <Tile
        name="Tokens"
        value={answered?.total_tokens?.toLocaleString("en-US") ?? "–"}
        more={answered?.usage_source ?? ""}
      />
      <Tile name="Cost" value={money(cost)} more={answered?.cost_status ?? ""} />
    </Tiles>
  );
}

function factsOf(trace: Trace) {
  const { key, generation } = trace;
  return [
    [
      "Id",
      <span class="with-copy">
        <code>{trace.request_id}</code>
        <CopyButton text={() => trace.request_id} label="Copy the id" />
      </span>,
    ],
    ["Started", atTime(trace.started_at)],
    ["Route", trace.route === null ? undefined : <code>{trace.route}</code>],
    ["Pipeline", trace.pipeline ?? undefined],
    [
      "Key",
      key?.id == null ? undefined : <a href={href(["keys", key.id])}>{key.alias ?? key.id}</a>,
    ],
    [
      "Generation",
      generation === null ? undefined : (
        <a href={href(["history", String(generation)])}>{generation}</a>
      ),
    ],
    ["Error", trace.error ?? undefined],
    ["Reading the body", trace.body_ms === null ? undefined : duration(trace.body_ms)],
    ["Known from", trace.source === "memory" ? "memory: with its steps" : "the ledger"],
  ] as const;
}
