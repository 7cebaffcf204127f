/** The playground: a request through the real pipeline, as a key, and its explanation. */

import { useState } from "preact/hooks";
import type { PlayRoutes } from "../../api/playground.ts";
import { useRead } from "../../app/live.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { Button } from "../../parts/button.tsx";
import { Head } from "../../parts/page.tsx";
import { Empty, Failure } from "../../parts/states.tsx";
import { bodyOf, type Draft, type Faults, faultsOf, FIRST_DRAFT } from "./draft.ts";
import { PlayForm } from "./play-form.tsx";
import { PlayResult } from "./play-result.tsx";
import { usePlay } from "./use-play.ts";

/** Kept while the page is open: another screen may be looked at in between. */
let kept = FIRST_DRAFT;

/** The screen. */
export default function PlaygroundScreen(_props: ScreenProps) {
  const { data, error, refetch } = useRead<PlayRoutes>("/playground");
  const { draft, faults, columns, change, send, goOn } = usePlayground();
  const isRunning = columns.some(({ play }) => play?.ending === "runs");
  const stop = (): void => columns.forEach((column) => column.stop());
  const routes = data?.routes ?? [];
  if (error && data === undefined)
    return (
      <>
        <Head title="Playground" />
        <Failure error={error} onRetry={() => void refetch()} />
      </>
    );
  return (
    <>
      <Head
        title="Playground"
        lead="A request through the real route and pipeline, as a key. Its row has the tag playground."
      />
      <div class="columns playground">
        <PlayForm
          draft={draft}
          faults={faults}
          routes={routes}
          onChange={change}
          actions={
            <>
              <Button kind="primary" icon="play" isBusy={isRunning} onClick={send}>
                Send
              </Button>
              {isRunning && (
                <Button icon="stop" onClick={stop}>
                  Stop all
                </Button>
              )}
            </>
          }
        />
        <div class="stack">
          <Replies columns={columns} routes={routes} onContinue={goOn} />
        </div>
      </div>
    </>
  );
}

/** The form, and one column for each model. */
function usePlayground() {
  const [draft, setDraft] = useState<Draft>(kept);
  const [faults, setFaults] = useState<Faults>({});
  const first = usePlay();
  const second = usePlay();
  const change = (changes: Partial<Draft>): void => {
    setDraft((before) => (kept = { ...before, ...changes }));
    setFaults({});
  };
  const send = (): void => {
    const found = faultsOf(draft);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const { operation, as, route } = draft;
    first.send({ operation, as, route, body: bodyOf(draft, draft.model) });
    if (draft.second === "") second.clear();
    else second.send({ operation, as, route, body: bodyOf(draft, draft.second) });
  };
  const goOn = (text: string) => (): void => {
    const said = { role: "assistant", content: text } as const;
    change({ messages: [...draft.messages, said, { role: "user", content: "" }] });
  };
  return { draft, faults, columns: [first, second], change, send, goOn };
}

/** The replies of one model or of two, the first one above. */
function Replies(props: {
  readonly columns: readonly ReturnType<typeof usePlay>[];
  readonly routes: PlayRoutes["routes"];
  readonly onContinue: (text: string) => () => void;
}) {
  const { columns, routes, onContinue } = props;
  if (columns.every(({ play }) => play === undefined))
    return (
      <section class="panel" aria-label="Reply">
        <Empty icon="playground" title="The reply and its explanation come here">
          Each step with its line in the YAML, each call of an upstream, tokens and cost.
        </Empty>
      </section>
    );
  return (
    <>
      {columns.map(
        ({ play, stop }, index) =>
          play !== undefined && (
            <PlayResult
              key={play.number}
              title={`Reply of ${String(play.body["model"])}`}
              play={play}
              routes={routes}
              onStop={stop}
              onContinue={
                index === 0 && play.operation === "chat" && play.said.text !== ""
                  ? onContinue(play.said.text)
                  : undefined
              }
            />
          ),
      )}
    </>
  );
}
