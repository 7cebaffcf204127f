/** The last step of an edit: for whom it applies, and the button that writes the files. */

import type { ConfigFiles } from "../../api/config.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Notice } from "../../parts/marks.tsx";
import { KeyAgain, reasonsOf } from "../../records/key-again.tsx";
import { CanaryFields } from "../history/apply-dialog.tsx";
import { FindingList } from "./finding-list.tsx";
import type { Applying } from "./use-apply.ts";

/** The section. */
export function ApplySection(props: {
  readonly applying: Applying;
  /** Whether an edit can begin with a share of the keys. */
  readonly mayBegin: boolean;
  readonly source: ConfigFiles["source"];
  readonly onOpen: (file: string, line: number) => void;
}) {
  const { applying, mayBegin, source, onOpen } = props;
  const { sending, how, plan, setHow, setPlan, refused, doing, apply } = applying;
  const reasons = reasonsOf(sending.failure);
  return (
    <>
      {source === "store" && (
        <p class="muted">The edit goes into the store, and applies at every instance.</p>
      )}
      {mayBegin ? (
        <CanaryFields how={how} plan={plan} onHow={setHow} onPlan={setPlan} />
      ) : (
        <p class="muted">
          The edit applies to all keys. A canary needs <code>server.reload: on_request</code>.
        </p>
      )}
      {refused !== undefined && (
        <Notice tone="bad" isLoud>
          <p>
            Refused:{" "}
            {refused.files !== "left"
              ? "nothing changed."
              : source === "store"
                ? "the store holds the edit, and this instance refused it. History rolls it back."
                : "the files hold the edit and could not be put back."}{" "}
            {refused.reason}
          </p>
          <FindingList findings={refused.findings} onOpen={onOpen} />
        </Notice>
      )}
      {reasons !== undefined && <KeyAgain reasons={reasons} onEntered={() => void apply()} />}
      {reasons === undefined && sending.failure !== undefined && (
        <Notice tone="bad" isLoud>
          {sending.failure.message}
        </Notice>
      )}
      <AsCommand doing={doing} />
    </>
  );
}

/** The button. */
export function ApplyFoot(props: { readonly applying: Applying; readonly isValid: boolean }) {
  const { sending, how, apply } = props.applying;
  return (
    <Button
      kind="primary"
      isBusy={sending.isBusy}
      disabled={!props.isValid}
      onClick={() => void apply()}
    >
      {how === "canary" ? "Start the canary" : "Apply to all keys"}
    </Button>
  );
}
