/** Blocking and deleting a record. Both ask first. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { Limits } from "../../api/records.ts";
import { usePause } from "../../app/live.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { useSend } from "../use-send.ts";
import type { Names, TenantKind } from "./kind.ts";

interface ActionProps<Row extends Limits> {
  readonly kind: TenantKind<Row>;
  readonly names: Names;
  readonly row: Row;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

/** Blocks a record, or unblocks it. */
export function BlockTenant<Row extends Limits>(props: ActionProps<Row>) {
  const { kind, names, row, onDone, onClose } = props;
  const name = kind.nameOf(row);
  const word = row.blocked ? "unblock" : "block";
  const path = `/${kind.kind}/${word}`;
  const sending = useSend();
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<object>(path, names));
    if (answer !== undefined) onDone(row.blocked ? `${name} is admitted.` : `${name} is blocked.`);
  };
  return (
    <Confirm
      title={row.blocked ? `Unblock ${name}?` : `Block ${name}?`}
      action={row.blocked ? "Unblock" : "Block"}
      isDangerous={!row.blocked}
      isBusy={sending.isBusy}
      failure={sending.failure}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>
        {row.blocked
          ? "Its requests are admitted from the next one on."
          : "Its next request is refused, here at once and within a second in other processes."}
      </p>
      <AsCommand
        doing={{ path, body: names, sluice: [kind.plural, word, names[`${kind.kind}_id`] ?? ""] }}
      />
    </Confirm>
  );
}

/** Deletes a record for good. */
export function DeleteTenant<Row extends Limits>(props: ActionProps<Row>) {
  usePause();
  const { kind, names, row, onDone, onClose } = props;
  const { keys: choices, text } = kind.deletion;
  const name = kind.nameOf(row);
  const id = names[`${kind.kind}_id`] ?? "";
  const [keys, setKeys] = useState(choices?.[0]?.[0] ?? "");
  const [team, setTeam] = useState("");
  const sending = useSend();
  const { [`${kind.kind}_id`]: _id, ...others } = names;
  const chosen = keys === "move" ? `move:${team}` : keys;
  const body = {
    [`${kind.kind}_ids`]: [id],
    ...others,
    ...(chosen !== "" && { keys: chosen }),
  };
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<object>(`/${kind.kind}/delete`, body));
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
      <p>{text}</p>
      {choices !== undefined && (
        <SelectField label="Its keys" value={keys} choices={choices} onInput={setKeys} />
      )}
      {keys === "move" && <TextField label="To the team" value={team} onInput={setTeam} />}
      <AsCommand
        doing={{
          path: `/${kind.kind}/delete`,
          body,
          sluice: [kind.plural, "delete", id, ...(chosen === "" ? [] : ["--keys", chosen])],
        }}
      />
    </Confirm>
  );
}
