/** One change of several keys, each by itself, and what became of each. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { BulkResult, ListedKey } from "../../api/records.ts";
import { usePause, useRefresh } from "../../app/live.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { Mark } from "../../parts/marks.tsx";
import { toast } from "../../parts/toasts.tsx";
import { useSend } from "../../records/use-send.ts";
import { LimitFields, readLimits, type TypedLimits } from "./bulk-limits.tsx";

type Action = "block" | "unblock" | "delete" | "update";

const WORDS: Readonly<Record<Action, string>> = {
  block: "Block",
  unblock: "Unblock",
  delete: "Delete",
  update: "Change limits of",
};

const MISSING = { message: "Type at least one limit." };

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

function BulkDialog(props: {
  readonly action: Action;
  readonly keys: readonly ListedKey[];
  readonly onClose: (isDone: boolean) => void;
}) {
  usePause();
  const { action, keys, onClose } = props;
  const refresh = useRefresh();
  const sending = useSend();
  const [typed, setTyped] = useState<TypedLimits>({});
  const [isTried, setTried] = useState(false);
  const [results, setResults] = useState<readonly BulkResult[]>();
  const { fields, faults } = readLimits(typed);
  const body = {
    keys: keys.map(({ token_id: id }) => id),
    action,
    ...(action === "update" && { fields }),
  };
  const isMissing = action === "update" && Object.keys(typed).length === 0;
  const confirm = async (): Promise<void> => {
    setTried(true);
    if (isMissing || Object.keys(faults).length > 0) return;
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
      failure={isTried && isMissing ? MISSING : sending.failure}
      onConfirm={() => void confirm()}
      onClose={() => onClose(false)}
    >
      <p>Each key is changed by itself, with a line of the audit of its own.</p>
      {action === "update" && (
        <LimitFields
          typed={typed}
          faults={isTried ? faults : {}}
          onChange={(next) => {
            setTyped(next);
            setTried(false);
          }}
        />
      )}
      <p class="muted small">{keys.map(nameOf).join(", ")}</p>
      <AsCommand doing={{ path: "/key/bulk", body }} />
    </Confirm>
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
