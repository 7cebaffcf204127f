/** What can be done with a key: block, rotate, delete. Each asks first. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { KeyRow } from "../../api/records.ts";
import { usePause, useRefresh } from "../../app/live.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { SelectField } from "../../parts/field.tsx";
import { Failed } from "../../parts/marks.tsx";
import { useSend } from "../../records/use-send.ts";
import { SecretDialog } from "./secret-dialog.tsx";

/** What each dialog gets. */
export interface KeyActionProps {
  readonly record: KeyRow;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

/** Blocks a key, or unblocks it. */
export function BlockKey({ record, onDone, onClose }: KeyActionProps) {
  const { token_id: id, blocked } = record;
  const name = record.key_alias ?? id;
  const word = blocked ? "unblock" : "block";
  const path = `/key/${word}`;
  const sending = useSend();
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<object>(path, { key: id }));
    if (answer !== undefined)
      onDone(blocked ? `${name} is admitted again.` : `${name} is blocked.`);
  };
  return (
    <Confirm
      title={blocked ? `Unblock ${name}?` : `Block ${name}?`}
      action={blocked ? "Unblock" : "Block"}
      isDangerous={!blocked}
      isBusy={sending.isBusy}
      failure={sending.failure}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        {blocked
          ? "Its requests are admitted from the next one on."
          : "Its next request gets 401, here at once and within a second in other processes. Requests under way end."}
      </p>
      <AsCommand doing={{ path, body: { key: id }, sluice: ["keys", word, id] }} />
    </Confirm>
  );
}

/** Deletes a key for good. */
export function DeleteKey({ record, onDone, onClose }: KeyActionProps) {
  usePause();
  const { token_id: id } = record;
  const name = record.key_alias ?? id;
  const sending = useSend();
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<object>("/key/delete", { keys: [id] }));
    if (answer !== undefined) onDone(`${name} is deleted.`);
  };
  return (
    <Confirm
      title={`Delete ${name}?`}
      action="Delete"
      isDangerous
      isBusy={sending.isBusy}
      failure={sending.failure}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>Its next request gets 401. A deleted key does not come back; a blocked one can.</p>
      <p class="muted">Its spend stays in the reports.</p>
      <AsCommand
        doing={{ path: "/key/delete", body: { keys: [id] }, sluice: ["keys", "revoke", id] }}
      />
    </Confirm>
  );
}

const GRACES = [
  ["0s", "Not at all: it is refused at once"],
  ["10m", "For 10 minutes"],
  ["1h", "For an hour"],
  ["1d", "For a day"],
  ["7d", "For a week"],
] as const;

/** Gives a key a new secret. */
export function RotateKey({ record, onClose }: KeyActionProps) {
  const { token_id: id } = record;
  const name = record.key_alias ?? id;
  const refresh = useRefresh();
  const sending = useSend();
  const [grace, setGrace] = useState("1h");
  const [secret, setSecret] = useState<string>();
  const body = { key: id, grace_period: grace };
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<{ readonly key: string }>("/key/regenerate", body));
    if (answer === undefined) return;
    setSecret(answer.key);
    refresh("/key/");
  };
  if (secret !== undefined)
    return (
      <SecretDialog
        title="The new secret, shown this once"
        secret={secret}
        name={name}
        warnings={[]}
        onClose={onClose}
      />
    );
  return (
    <Dialog title={`Rotate ${name}`} onClose={onClose}>
      <div class="dialog-body">
        <Failed of={sending.failure} />
        <p>The key keeps its id, its limits and its spend, and gets a new secret.</p>
        <SelectField
          label="The old secret works on"
          value={grace}
          choices={GRACES}
          onInput={setGrace}
          hint="A key has at most one old secret; another rotation ends it."
        />
        <AsCommand
          doing={{
            path: "/key/regenerate",
            body,
            sluice: ["keys", "rotate", id, "--grace-period", grace],
          }}
        />
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" isBusy={sending.isBusy} onClick={() => void confirm()}>
          Rotate
        </Button>
      </div>
    </Dialog>
  );
}
