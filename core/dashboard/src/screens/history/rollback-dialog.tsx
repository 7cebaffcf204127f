/** Rolling back: first what it would change, then the change. */

import { post } from "../../api/client.ts";
import type { EditResult, Generation, Impact } from "../../api/config.ts";
import { useRefresh } from "../../app/live.ts";
import { useSession } from "../../app/may.ts";
import { useStatus } from "../../app/status.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Failed } from "../../parts/marks.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { toast } from "../../parts/toasts.tsx";
import { ImpactView } from "../../records/effects.tsx";
import { useSend } from "../../records/use-send.ts";
import { useImpact } from "./use-impact.ts";

/** The dialog. */
export function RollbackDialog(props: { readonly to: Generation; readonly onClose: () => void }) {
  const { to, onClose } = props;
  const { generation } = to;
  const { name } = useSession();
  const { data: status } = useStatus();
  const refresh = useRefresh();
  const impact = useImpact({ from: "running", to: generation });
  const sending = useSend();
  const body = { generation, ...(name !== null && { author: name }) };
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<EditResult>("/config/rollback", body));
    if (answer === undefined) return;
    refresh("/config/");
    toast(outcomeText(answer, `The contents of generation ${generation} run again.`));
    onClose();
  };
  return (
    <Dialog title={`Roll back to generation ${generation}?`} class="wide" onClose={onClose}>
      <div class="dialog-body">
        <Failed of={sending.failure} />
        <p>
          Its contents become a new generation
          {status?.source === "store"
            ? " in the store, which every instance applies."
            : ". The files on disk stay; their next edit applies them again."}
        </p>
        <section class="stack-s">
          <h3>What it changes</h3>
          <ImpactOrWait impact={impact} />
        </section>
        <AsCommand
          doing={{ path: "/config/rollback", body, sluice: ["rollback", String(generation)] }}
        />
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind={impact.data?.risk === "danger" ? "danger primary" : "primary"}
          isBusy={sending.isBusy}
          disabled={impact.data === undefined}
          onClick={() => void confirm()}
        >
          Roll back
        </Button>
      </div>
    </Dialog>
  );
}

/** The effects, or why there are none yet. */
export function ImpactOrWait({ impact }: { readonly impact: ReturnType<typeof useImpact> }) {
  const { data, error } = impact;
  if (error !== undefined) return <Failure error={error} />;
  return data === undefined ? <Loading /> : <ImpactView impact={data satisfies Impact} />;
}

/** What became of an attempt. */
export function outcomeText(attempt: EditResult, applied: string): string {
  if (attempt.outcome === "applied") return applied;
  if (attempt.outcome === "unchanged") return "Nothing changed: these contents run already.";
  if (attempt.outcome === "canary") return `Generation ${attempt.generation} runs as a canary.`;
  const [finding] = attempt.findings;
  return `${attempt.outcome}: ${finding?.text ?? attempt.reason ?? "the log has the reason"}`;
}
