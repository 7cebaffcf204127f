/** One change of several keys, each by itself, and what became of each. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { BulkResult, ListedKey } from "../../api/records.ts";
import { usePause, useRefresh } from "../../app/live.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Mark } from "../../parts/marks.tsx";
import { toast } from "../../parts/toasts.tsx";
import { useSend } from "../../records/use-send.ts";

type Action = "block" | "unblock" | "delete" | "update";

const WORDS: Readonly<Record<Action, string>> = {
  block: "Block",
  unblock: "Unblock",
  delete: "Delete",
  update: "Change limits of",
};

/** What is said of the selected keys, and what can be done with them. */
export function BulkBar(props: {
  readonly selected: readonly ListedKey[];
  readonly onClear: () => void;
}) {
  const { selected, onClear } = props;
  const [action, setAction] = useState<Action>();
  if (selected.length === 0) return null;
  return (
    <div class="foot" role="group" aria-label="Selected keys">
      <span class="num" role="status">
        {selected.length} selected
      </span>
      <span class="end">
        <Button icon="lock" onClick={() => setAction("block")}>
          Block
        </Button>
        <Button onClick={() => setAction("unblock")}>Unblock</Button>
        <Button icon="edit" onClick={() => setAction("update")}>
          Change limits
        </Button>
        <Button icon="trash" kind="danger" onClick={() => setAction("delete")}>
          Delete
        </Button>
        <Button icon="close" kind="quiet" label="Select none" onClick={onClear} />
      </span>
      {action !== undefined && (
        <BulkDialog
          action={action}
          keys={selected}
          onClose={(isDone) => {
            setAction(undefined);
            if (isDone) onClear();
          }}
        />
      )}
    </div>
  );
}

/** The fields of the form, by their names in the route. */
const FIELDS = [
  ["max_budget", "Budget", "US dollars"],
  ["rpm_limit", "Requests a minute", ""],
  ["tpm_limit", "Tokens a minute", ""],
] as const;

type Typed = Readonly<Record<string, string>>;

function BulkDialog(props: {
  readonly action: Action;
  readonly keys: readonly ListedKey[];
  readonly onClose: (isDone: boolean) => void;
}) {
  usePause();
  const { action, keys, onClose } = props;
  const refresh = useRefresh();
  const sending = useSend();
  const [typed, setTyped] = useState<Typed>({});
  const [results, setResults] = useState<readonly BulkResult[]>();
  const fields = Object.fromEntries(
    Object.entries(typed).map(([name, value]) => [name, value === "-" ? null : Number(value)]),
  );
  const body = {
    keys: keys.map(({ token_id: id }) => id),
    action,
    ...(action === "update" && { fields }),
  };
  const isMissing = action === "update" && Object.keys(fields).length === 0;
  const confirm = async (): Promise<void> => {
    if (isMissing) return;
    const answer = await sending.run(() =>
      post<{ readonly results: readonly BulkResult[] }>("/key/bulk", body),
    );
    if (answer === undefined) return;
    refresh("/key/", "/team/info");
    const refused = answer.results.filter(({ outcome }) => outcome !== "done");
    if (refused.length > 0) return setResults(refused);
    toast(`${countOf(answer.results.length)} changed.`);
    onClose(true);
  };
  if (results !== undefined)
    return <Refused results={results} keys={keys} onClose={() => onClose(true)} />;
  return (
    <Confirm
      title={`${WORDS[action]} ${countOf(keys.length)}?`}
      action={action === "update" ? "Change" : WORDS[action]}
      isDangerous={action === "block" || action === "delete"}
      isBusy={sending.isBusy}
      failure={sending.failure}
      onConfirm={() => void confirm()}
      onClose={() => onClose(false)}
    >
      <p>Each key is changed by itself, with a line of the audit of its own.</p>
      {action === "update" && <LimitFields typed={typed} onChange={setTyped} />}
      <p class="muted small">{keys.map(nameOf).join(", ")}</p>
      <AsCommand doing={{ path: "/key/bulk", body }} />
    </Confirm>
  );
}

function LimitFields(props: { readonly typed: Typed; readonly onChange: (typed: Typed) => void }) {
  const { typed, onChange } = props;
  return (
    <>
      {FIELDS.map(([name, label, hint]) => (
        <TextField
          key={name}
          label={label}
          hint={`${hint === "" ? "" : `${hint}. `}Empty: as it is. A dash: no limit.`}
          inputMode="decimal"
          value={typed[name] ?? ""}
          onInput={(value) => {
            const { [name]: _before, ...others } = typed;
            onChange(value.trim() === "" ? others : { ...others, [name]: value.trim() });
          }}
        />
      ))}
    </>
  );
}

/** Keys that the gateway did not change, with its reason for each. */
function Refused(props: {
  readonly results: readonly BulkResult[];
  readonly keys: readonly ListedKey[];
  readonly onClose: () => void;
}) {
  const { results, keys, onClose } = props;
  const named = new Map(keys.map((key) => [key.token_id, nameOf(key)]));
  return (
    <Dialog title={`${countOf(results.length)} not changed`} onClose={onClose}>
      <ul class="stack-s">
        {results.map(({ key, outcome, reason }) => (
          <li key={key ?? ""}>
            <strong>{named.get(key ?? "") ?? key}</strong> <Mark tone="warn">{outcome}</Mark>{" "}
            {reason ?? "It does not exist any more."}
          </li>
        ))}
      </ul>
      <p class="muted">The others are changed.</p>
    </Dialog>
  );
}

function nameOf({ key_alias: alias, token_id: id }: ListedKey): string {
  return alias ?? id;
}

function countOf(count: number): string {
  return `${count} ${count === 1 ? "key" : "keys"}`;
}
