/** A form that makes a record, or changes one. */

import { AsCommand } from "../parts/as-command.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/marks.tsx";
import { Clashes } from "./clashes.tsx";
import { RecordGroups } from "./record-groups.tsx";
import { type RecordFormProps, useRecordForm } from "./use-record-form.ts";

/** The form. It sends the fields that were typed or changed, and no others. */
export function RecordDialog<Answer extends object>(props: RecordFormProps<Answer>) {
  const { title, action, lead, onClose } = props;
  const form = useRecordForm<Answer>(props);
  const { failure, clashes } = form;
  return (
    <Dialog title={title} class="sheet" onClose={onClose}>
      <form ref={form.element} noValidate onSubmit={(event) => void form.send(event)}>
        <div class="dialog-body">
          {lead}
          <Failed of={failure} />
          {clashes.length > 0 && (
            <Clashes
              clashes={clashes}
              onTake={(clash) => form.settle(clash, true)}
              onKeep={(clash) => form.settle(clash, false)}
            />
          )}
          <RecordGroups
            specs={form.specs}
            draft={form.draft}
            faults={form.faults}
            onInput={form.set}
          />
          <AsCommand doing={form.doing} />
        </div>
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy} disabled={clashes.length > 0}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
