/** What runs now, and the timeline of generations and attempts. */

import { useState } from "preact/hooks";
import type { ConfigHistory, Generation } from "../../api/config.ts";
import { useRead } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { useStatus } from "../../app/status.ts";
import { Button } from "../../parts/button.tsx";
import { Head } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { CanaryPanel } from "./canary-panel.tsx";
import { ApplyDialog } from "./apply-dialog.tsx";
import { RollbackDialog } from "./rollback-dialog.tsx";
import { RunningPanel } from "./running-panel.tsx";
import { Timeline } from "./timeline.tsx";

type Open = { readonly is: "apply" } | { readonly is: "rollback"; readonly to: Generation };

const FILES =
  "Each state of the files that ran, with its effects. Rolling back applies older contents and leaves the files as they are.";
const STORED =
  "Each state of the configuration in the store that ran here, with its effects. Rolling back applies older contents at every instance.";

/** The page. */
export function HistoryPage() {
  const may = useMay();
  const { data: status } = useStatus();
  const { data, error, refetch } = useRead<ConfigHistory>("/config/history", {}, { isLive: true });
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const isStored = status?.source === "store";
  const apply = may("config.reload") && !isStored && (
    <Button
      icon="refresh"
      onClick={() => setOpen({ is: "apply" })}
      {...(status?.drift.files_differ === true && { kind: "primary" as const })}
    >
      Apply the files
    </Button>
  );
  return (
    <>
      <Head title="History" lead={isStored ? STORED : FILES} actions={apply} />
      {status?.canary != null && <CanaryPanel canary={status.canary} />}
      {status !== undefined && <RunningPanel status={status} />}
      {data === undefined ? (
        error ? (
          <Failure error={error} onRetry={() => void refetch()} />
        ) : (
          <Loading />
        )
      ) : (
        <Timeline
          history={data}
          {...(may("config.rollback") && {
            onRollback: (to: Generation) => setOpen({ is: "rollback", to }),
          })}
        />
      )}
      {open?.is === "apply" && <ApplyDialog onClose={close} />}
      {open?.is === "rollback" && <RollbackDialog to={open.to} onClose={close} />}
    </>
  );
}
