/** The reply to a request of the playground, and its explanation. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PlayRoutes } from "../../api/playground.ts";
import type { RequestPage } from "../../api/records.ts";
import type { Trace } from "../../api/requests.ts";
import { useRead } from "../../app/live.ts";
import { href } from "../../app/route.ts";
import { Button, LinkButton } from "../../parts/button.tsx";
import { Command } from "../../parts/copy.tsx";
import { duration, money } from "../../parts/format.ts";
import { Mark, Notice, type Tone } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Loading } from "../../parts/states.tsx";
import { Tile, Tiles } from "../../parts/tiles.tsx";
import { AttemptPanel } from "../requests/attempts.tsx";
import { Steps } from "../requests/steps.tsx";
import { asCurl } from "./as-curl.ts";
import { asTest } from "./as-test.ts";
import type { Ending, Play } from "./use-play.ts";

/** A reply is settled a moment after its end. */
const EVERY_MS = 500;

const ENDINGS: Readonly<Record<Ending, readonly [words: string, tone: Tone]>> = {
  runs: ["Running", "accent"],
  ended: ["Complete", "good"],
  refused: ["Refused", "bad"],
  stopped: ["Stopped by you", "warn"],
  cut: ["Cut off", "bad"],
};

/** The column of one model. */
export function PlayResult(props: {
  readonly title: string;
  readonly play: Play;
  readonly routes: PlayRoutes["routes"];
  readonly onStop: () => void;
  readonly onContinue: (() => void) | undefined;
}) {
  const { title, play, routes, onStop, onContinue } = props;
  const trace = useTrace(play);
  const route =
    play.route === ""
      ? routes.find(({ operation }) => operation === play.operation)
      : routes.find((one) => one.route === play.route);
  return (
    <section class="stack" aria-label={title}>
      <Panel title={title} end={<State play={play} />}>
        <div class="stack">
          <ReplyText play={play} />
          <div class="row">
            {play.ending === "runs" && (
              <Button icon="stop" onClick={onStop}>
                Stop
              </Button>
            )}
            {play.ending === "ended" && onContinue !== undefined && (
              <Button icon="plus" onClick={onContinue}>
                Continue the conversation
              </Button>
            )}
            {play.requestId !== undefined && (
              <LinkButton icon="requests" href={href(["requests", play.requestId])}>
                Open the request
              </LinkButton>
            )}
          </div>
        </div>
      </Panel>
      {play.ending !== "runs" && <Numbers play={play} trace={trace} />}
      {trace === undefined ? (
        play.ending !== "runs" && play.requestId !== undefined && <Loading />
      ) : (
        <Explanation play={play} trace={trace} route={route} />
      )}
    </section>
  );
}

/** The explanation, from the moment when the request has ended. */
function useTrace({ requestId, ending }: Play): Trace | undefined {
  const isOver = ending !== "runs" && requestId !== undefined;
  const [isThere, setThere] = useState(false);
  const { data: list } = useRead<RequestPage>(
    "/requests",
    { request_id: requestId },
    { enabled: isOver && !isThere, isLive: true, everyMs: EVERY_MS, keep: false },
  );
  useEffect(() => {
    if (list !== undefined && list.requests.length > 0) setThere(true);
  }, [list]);
  const { data } = useRead<Trace>(
    `/requests/${requestId ?? ""}`,
    {},
    { enabled: isOver && isThere, keep: false },
  );
  return data;
}

function State({ play }: { readonly play: Play }) {
  const [words, tone] = ENDINGS[play.ending];
  return (
    <span role="status">
      <Mark tone={tone}>
        {words}
        {play.status !== undefined && `, ${play.status}`}
      </Mark>
    </span>
  );
}

/** Texts of models are texts: no markup, no link, no image. */
function ReplyText({ play: { said, ending } }: { readonly play: Play }) {
  const { text, toolCalls, failure } = said;
  return (
    <>
      {failure !== undefined && (
        <Notice tone="bad" isLoud>
          {failure}
        </Notice>
      )}
      {text !== "" && <pre class="played">{text}</pre>}
      {toolCalls.map(({ name, arguments: given }, index) => (
        // Calls have no other name than their place.
        // oxlint-disable-next-line react/no-array-index-key
        <pre class="played" key={index}>
          {name}({given})
        </pre>
      ))}
      {text === "" && toolCalls.length === 0 && failure === undefined && (
        <p class="muted">
          {ending === "runs" ? "Waiting for the first words." : "The reply has no text."}
        </p>
      )}
    </>
  );
}

function Numbers(props: { readonly play: Play; readonly trace: Trace | undefined }) {
  const { play, trace } = props;
  const attempts = trace?.attempts ?? [];
  const costs = attempts.map(({ cost }) => cost);
  const cost =
    trace === undefined || costs.includes(null)
      ? null
      : costs.reduce((sum: number, one) => sum + (one ?? 0), 0);
  const last = attempts.at(-1);
  return (
    <Tiles>
      <Tile name="First text" value={duration(play.firstMs)} more="as this page saw it" />
      <Tile
        name="Duration"
        value={duration(trace?.total_ms ?? play.totalMs)}
        more={`own work ${duration(trace?.overhead_ms)}`}
      />
      <Tile
        name="Tokens"
        value={last?.total_tokens?.toLocaleString("en-US") ?? "–"}
        more={last?.usage_source ?? ""}
      />
      <Tile name="Cost" value={money(cost)} more={last?.cost_status ?? ""} />
    </Tiles>
  );
}

function Explanation(props: {
  readonly play: Play;
  readonly trace: Trace;
  readonly route: PlayRoutes["routes"][number] | undefined;
}) {
  const { play, trace, route } = props;
  return (
    <>
      <AttemptPanel trace={trace} isNarrow />
      {trace.steps !== null && (
        <Panel title="Steps" isFlush>
          <Steps steps={trace.steps} />
        </Panel>
      )}
      {route !== undefined && <Again play={play} trace={trace} route={route} />}
    </>
  );
}

/** The same request for a client, and as a test. */
function Again(props: {
  readonly play: Play;
  readonly trace: Trace;
  readonly route: PlayRoutes["routes"][number];
}) {
  const { play, trace, route } = props;
  const { body, said, status, ending } = play;
  const isWhole = (ending === "ended" || ending === "refused") && play.operation === "chat";
  return (
    <Panel title="Again">
      <div class="stack">
        <Folded title="As curl">
          <Command label="curl" text={asCurl(route.route, body)} />
        </Folded>
        <Folded title="As a test">
          {isWhole && status !== undefined ? (
            <>
              <p>
                Below <code>tests:</code> of <code>{route.file}</code>. It runs with{" "}
                <code>sluice test</code> and before every edit, and calls no upstream.
              </p>
              <Command
                label="test"
                text={asTest({ route: route.route, body, said, status, trace })}
              />
            </>
          ) : (
            <p>A test is made of a chat request that came to its end.</p>
          )}
        </Folded>
      </div>
    </Panel>
  );
}

function Folded(props: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <details>
      <summary>{props.title}</summary>
      <div class="stack-s">{props.children}</div>
    </details>
  );
}
