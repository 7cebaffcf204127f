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
  readonly reload: ConfigFiles["reload"];
  readonly onOpen: (file: string, line: number) => void;
}) {
  const { applying, reload, onOpen } = props;
  const { sending, how, plan, setHow, setPlan, refused, doing, apply } = applying;
  const reasons = reasonsOf(sending.failure);
  return (
    <>
      {reload === "on_request" ? (
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
            {refused.files === "left"
              ? "the files hold the edit and could not be put back."
              : "nothing changed."}{" "}
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
