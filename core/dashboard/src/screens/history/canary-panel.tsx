/** A canary that runs: both sides, its condition, and its two ends. */

import { post } from "../../api/client.ts";
import type { Canary, EditResult, Side } from "../../api/config.ts";
import { useRefresh } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { Button } from "../../parts/button.tsx";
import { count, duration, share } from "../../parts/format.ts";
import { Failed, When } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { toast } from "../../parts/toasts.tsx";
import { useSend } from "../../records/use-send.ts";

interface NamedSide extends Side {
  readonly name: string;
}

const COLUMNS: readonly Column<NamedSide>[] = [
  { name: "name", title: "Side", isHead: true, cell: ({ name }) => name },
  { name: "requests", title: "Requests", isNumber: true, cell: (row) => count(row.requests) },
  { name: "errors", title: "Failed", isNumber: true, cell: (row) => count(row.errors) },
  {
    name: "rate",
    title: "Error rate",
    isNumber: true,
    cell: ({ errors, requests }) => share(requests === 0 ? undefined : errors / requests),
  },
  {
    name: "p99",
    title: "First content p99",
    isNumber: true,
    cell: (row) => duration(row.p99_ms),
  },
];

/** The panel. */
export function CanaryPanel({ canary }: { readonly canary: Canary }) {
  const may = useMay();
  const refresh = useRefresh();
  const sending = useSend();
  const { error_rate: rate, p99_ms: p99 } = canary.abort_if;
  const end = async (how: "promote" | "abort"): Promise<void> => {
    const answer = await sending.run(() => post<EditResult>(`/config/canary/${how}`));
    if (answer === undefined) return;
    toast(`The canary is ${answer.outcome}.`);
    refresh("/config/");
  };
  const conditions = [
    rate === null ? "" : `the error rate exceeds ${String(rate)}`,
    p99 === null ? "" : `p99 exceeds ${duration(p99)}`,
  ].filter((text) => text !== "");
  const actions = may("config.canary") && (
    <>
      <Button isBusy={sending.isBusy} onClick={() => void end("abort")}>
        Return it
      </Button>
      <Button kind="primary" isBusy={sending.isBusy} onClick={() => void end("promote")}>
        Promote
      </Button>
    </>
  );
  return (
    <Panel title={`Canary: generation ${canary.generation}`} isFlush end={actions}>
      <div class="pad stack-s">
        <Failed of={sending.failure} />
        <p>
          It serves {String(canary.share)} of the keys and ends <When at={canary.ends_at} />. It is
          returned if {conditions.join(", or ") || "another edit is applied"}, over at least{" "}
          {count(canary.min_requests)} requests.
        </p>
      </div>
      <Table
        caption="Both sides of the canary"
        columns={COLUMNS}
        rows={[
          { ...canary, name: `Generation ${canary.generation}, the canary` },
          { ...canary.others, name: "All other keys" },
        ]}
        keyOf={({ name }) => name}
      />
    </Panel>
  );
}
