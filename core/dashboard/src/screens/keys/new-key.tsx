/** Making a key: the form, then the key itself, shown once. */

import { useState } from "preact/hooks";
import type { KeyRow } from "../../api/records.ts";
import type { Draft } from "../../records/field-spec.ts";
import { RecordDialog } from "../../records/record-dialog.tsx";
import { KEY_SPECS } from "./key-specs.ts";
import { SecretDialog } from "./secret-dialog.tsx";

interface Made extends KeyRow {
  readonly key: string;
  readonly warnings?: readonly string[];
}

/** Both dialogs. `onClose` gets the id of the key that was made. */
export function NewKey(props: {
  readonly first: Draft;
  readonly onMade: () => void;
  readonly onClose: (made?: string) => void;
}) {
  const { first, onMade, onClose } = props;
  // The key itself lives here alone: in no cache, no address and no storage.
  const [made, setMade] = useState<Made>();
  if (made !== undefined)
    return (
      <SecretDialog
        title="The key, shown this once"
        secret={made.key}
        name={made.key_alias ?? made.token_id}
        warnings={made.warnings ?? []}
        onClose={() => onClose(made.token_id)}
      />
    );
  return (
    <RecordDialog<Made>
      title="New key"
      action="Create key"
      specs={KEY_SPECS}
      first={first}
      path="/key/generate"
      sluice={["keys", "create"]}
      onDone={(answer) => {
        setMade(answer);
        onMade();
      }}
      onClose={() => onClose()}
    />
  );
}
