/** The processes of the gateway: version, ledger, workers, and their restart. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { ConfigStatus } from "../../api/config.ts";
import { useMay } from "../../app/may.ts";
import { useStatus } from "../../app/status.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { count } from "../../parts/format.ts";
import { Mark, Notice, When } from "../../parts/marks.tsx";
import { Facts, Panel } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { toast } from "../../parts/toasts.tsx";
import { Workers } from "../../records/workers.tsx";
import { useSend } from "../../records/use-send.ts";

/** A restart starts every worker anew. */
const RESTART_MS = 120_000;

/** The part of the screen. */
export function Processes() {
  const { data: status, error, refetch } = useStatus();
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
      <Panel title="Gateway" end={restart}>
        <Facts rows={factsOf(status)} />
      </Panel>
      {workers !== undefined && <Workers workers={workers} />}
      {isOpen && <Restart waiting={waiting} onClose={() => setOpen(false)} />}
    </>
  );
}

function factsOf({ version, live, ledger, waiting_for_restart: waiting }: ConfigStatus) {
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
    [
      "Spend rows",
      ledger === null ? undefined : ledger.writable ? (
        <Mark tone="good">are stored</Mark>
      ) : (
        <Mark tone="bad">cannot be stored: {ledger.fault?.text}</Mark>
      ),
    ],
    [
      "Store",
      ledger === null ? undefined : ledger.store_failing ? (
        <Mark tone="warn">away</Mark>
      ) : (
        <Mark tone="good">answers</Mark>
      ),
    ],
    ["Batches in the outbox", ledger === null ? undefined : count(ledger.outbox_batches)],
    ["Rows in memory", ledger === null ? undefined : count(ledger.kept_rows)],
    ["Waiting for a restart", waiting.length === 0 ? "nothing" : waiting.join(", ")],
  ] as const;
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
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      {sending.failure !== undefined && (
        <Notice tone="bad" isLoud>
          {sending.failure.message}
        </Notice>
      )}
      <p>They are replaced one by one. No request fails.</p>
      {waiting.length > 0 && <p>Then apply: {waiting.join(", ")}.</p>}
      <AsCommand doing={{ path: "/restart", sluice: ["restart"] }} />
    </Confirm>
  );
}
