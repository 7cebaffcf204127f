/** The processes of the gateway: memory, load, outbox, event-loop blocks, store and plugins. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { ConfigStatus } from "../../api/config.ts";
import type { SystemAnswer } from "../../api/system.ts";
import { useRead } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { useStatus } from "../../app/status.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { duration } from "../../parts/format.ts";
import { Mark, When } from "../../parts/marks.tsx";
import { Facts, Panel } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { toast } from "../../parts/toasts.tsx";
import { Workers } from "../../records/workers.tsx";
import { useSend } from "../../records/use-send.ts";
import { Checks } from "./checks.tsx";
import { Blocks, Plugins, ProcessTable } from "./system-tables.tsx";

/** A restart starts every worker anew. */
const RESTART_MS = 120_000;
const EVERY_MS = 5_000;

/** The part of the screen. */
export function Processes() {
  const { data: status, error, refetch } = useStatus();
  const system = useRead<SystemAnswer>("/system", {}, { isLive: true, everyMs: EVERY_MS });
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (status === undefined)
    return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />;
  const { workers, waiting_for_restart: waiting } = status;
  const restart = may("gateway.restart") && workers !== undefined && (
    <Button icon="refresh" onClick={() => setOpen(true)}>
      Restart the workers
    </Button>
  );
  return (
    <>
      <div class="columns level">
        <Panel title="Gateway" end={restart}>
          <Facts rows={factsOf(status)} />
        </Panel>
        <Panel title="Store and shared state">
          {system.data === undefined ? <Loading /> : <Facts rows={placesOf(system.data)} />}
        </Panel>
      </div>
      {workers !== undefined && <Workers workers={workers} />}
      {system.data === undefined ? (
        system.error && <Failure error={system.error} onRetry={() => void system.refetch()} />
      ) : (
        <>
          <ProcessTable processes={system.data.processes} />
          <Checks />
          <Blocks blocks={system.data.blocks} />
          <Plugins plugins={system.data.plugins} />
        </>
      )}
      {isOpen && <Restart waiting={waiting} onClose={() => setOpen(false)} />}
    </>
  );
}

function factsOf({ version, live, waiting_for_restart: waiting }: ConfigStatus) {
  return [
    ["Version", version],
    [
      "Generation",
      live === null ? (
        "none"
      ) : (
        <>
          {live.generation}, since <When at={live.since} />
        </>
      ),
    ],
    ["Waiting for a restart", waiting.length === 0 ? "nothing" : waiting.join(", ")],
  ] as const;
}

function placesOf({ store, shared, node }: SystemAnswer) {
  return [
    [
      "Store",
      <span class="row">
        {store.use} {away(store.away)}
      </span>,
    ],
    [
      "Spend rows",
      store.writable ? (
        <Mark tone="good">are stored</Mark>
      ) : (
        <Mark tone="bad">cannot be stored: {store.fault}</Mark>
      ),
    ],
    [
      "Log of changes",
      store.changes_age_ms === null ? undefined : `read ${duration(store.changes_age_ms)} ago`,
    ],
    [
      "Shared state",
      <span class="row">
        {shared.use} {shared.away !== null && away(shared.away)}
      </span>,
    ],
    ["Node", node],
  ] as const;
}

function away(isAway: boolean) {
  return isAway ? <Mark tone="bad">away</Mark> : <Mark tone="good">answers</Mark>;
}
function Restart(props: { readonly waiting: readonly string[]; readonly onClose: () => void }) {
  const { waiting, onClose } = props;
  const sending = useSend();
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() =>
      post<object>("/restart", {}, { deadlineMs: RESTART_MS }),
    );
    if (answer === undefined) return;
    toast("All workers are new.");
    onClose();
  };
  return (
    <Confirm
      title="Restart the workers?"
      action="Restart"
      isBusy={sending.isBusy}
      failure={sending.failure}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>They are replaced one by one. No request fails.</p>
      {waiting.length > 0 && <p>Then apply: {waiting.join(", ")}.</p>}
      <AsCommand doing={{ path: "/restart", sluice: ["restart"] }} />
    </Confirm>
  );
}
