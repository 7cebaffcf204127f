/** Applying the files as they are on disk: to all keys, or to a share of them first. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { EditResult } from "../../api/config.ts";
import { useRefresh } from "../../app/live.ts";
import { useSession } from "../../app/may.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Segments, TextField } from "../../parts/field.tsx";
import { Failed, Notice } from "../../parts/marks.tsx";
import { toast } from "../../parts/toasts.tsx";
import { useSend } from "../../records/use-send.ts";
import { ImpactOrWait, outcomeText } from "./rollback-dialog.tsx";
import { useImpact } from "./use-impact.ts";

/** What the canary of a form is. */
export interface CanaryPlan {
  readonly share: string;
  readonly for: string;
  readonly abort_if: string;
}

const FIRST_PLAN: CanaryPlan = { share: "5%", for: "10m", abort_if: "error_rate>5%" };

/** The dialog. */
export function ApplyDialog({ onClose }: { readonly onClose: () => void }) {
  const { name } = useSession();
  const refresh = useRefresh();
  const impact = useImpact({ from: "running", to: "files" });
  const sending = useSend();
  const [how, setHow] = useState<"all" | "canary">("all");
  const [plan, setPlan] = useState(FIRST_PLAN);
  const [refused, setRefused] = useState<EditResult>();
  const body = {
    ...(how === "canary" && { canary: plan }),
    ...(name !== null && { author: name }),
  };
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<EditResult>("/config/reload", body));
    if (answer === undefined) return;
    refresh("/config/");
    if (answer.outcome === "refused") return setRefused(answer);
    toast(outcomeText(answer, `Generation ${answer.generation} serves.`));
    onClose();
  };
  return (
    <Dialog title="Apply the files" class="wide" onClose={onClose}>
      <div class="dialog-body">
        <Failed of={sending.failure} />
        {refused !== undefined && <Refusal attempt={refused} />}
        <section class="stack-s">
          <h3>What it changes</h3>
          <ImpactOrWait impact={impact} />
        </section>
        <CanaryFields how={how} plan={plan} onHow={setHow} onPlan={setPlan} />
        <AsCommand
          doing={{
            path: "/config/reload",
            body,
            sluice: ["reload", ...(how === "canary" ? canaryOptions(plan) : [])],
          }}
        />
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" isBusy={sending.isBusy} onClick={() => void confirm()}>
          {how === "canary" ? "Start the canary" : "Apply to all keys"}
        </Button>
      </div>
    </Dialog>
  );
}

function canaryOptions(plan: CanaryPlan): readonly string[] {
  return ["--canary", plan.share, "--for", plan.for, "--abort-if", plan.abort_if];
}

/** Why an attempt was refused. */
export function Refusal({ attempt }: { readonly attempt: EditResult }) {
  return (
    <Notice tone="bad" isLoud>
      <p>Refused: nothing changed. {attempt.reason}</p>
      {attempt.findings.map(({ text }) => (
        <pre key={text}>{text}</pre>
      ))}
    </Notice>
  );
}

/** To all keys, or to a share of them first. */
export function CanaryFields(props: {
  readonly how: "all" | "canary";
  readonly plan: CanaryPlan;
  readonly onHow: (how: "all" | "canary") => void;
  readonly onPlan: (plan: CanaryPlan) => void;
}) {
  const { how, plan, onHow, onPlan } = props;
  return (
    <section class="stack-s">
      <h3>For whom</h3>
      <Segments
        label="For whom"
        value={how}
        choices={[
          ["all", "All keys"],
          ["canary", "A share of the keys first"],
        ]}
        onInput={(value) => onHow(value === "canary" ? "canary" : "all")}
      />
      {how === "canary" && (
        <div class="grid-3">
          <TextField
            label="Share"
            value={plan.share}
            onInput={(share) => onPlan({ ...plan, share })}
          />
          <TextField
            label="For"
            value={plan.for}
            onInput={(span) => onPlan({ ...plan, for: span })}
          />
          <TextField
            label="Returned if"
            value={plan.abort_if}
            onInput={(condition) => onPlan({ ...plan, abort_if: condition })}
          />
        </div>
      )}
    </section>
  );
}
