/** What can be done with a deployment: make it healthy, hold it, release it. */

import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { post } from "../../api/client.ts";
import { useRefresh } from "../../app/live.ts";
import { AsCommand, type Doing } from "../../parts/as-command.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { SelectField } from "../../parts/field.tsx";
import { toast } from "../../parts/toasts.tsx";
import { useSend } from "../../records/use-send.ts";

interface ActionProps {
  readonly id: string;
  readonly onClose: () => void;
}

function Action(props: {
  readonly title: string;
  readonly action: string;
  readonly said: string;
  readonly doing: Doing;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const { title, action, said, doing, onClose, children } = props;
  const refresh = useRefresh();
  const sending = useSend();
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<object>(doing.path, doing.body ?? {}));
    if (answer === undefined) return;
    toast(said);
    refresh("/deployments", "/overview");
    onClose();
  };
  return (
    <Confirm
      title={title}
      action={action}
      isBusy={sending.isBusy}
      failure={sending.failure}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      {children}
      <AsCommand doing={doing} />
    </Confirm>
  );
}

function pathOf(id: string, word: string): string {
  return `/deployments/${encodeURIComponent(id)}/${word}`;
}

/** Makes a deployment healthy. */
export function ResetDialog({ id, onClose }: ActionProps) {
  return (
    <Action
      title={`Make ${id} healthy?`}
      action="Make healthy"
      said={`${id} is healthy again.`}
      doing={{ path: pathOf(id, "reset"), sluice: ["deployments", "reset", id] }}
      onClose={onClose}
    >
      <p>
        All workers call it again at once, with all its models and its credential. If it still
        fails, it is ejected again.
      </p>
    </Action>
  );
}

const SPANS = [
  ["10m", "10 minutes"],
  ["30m", "30 minutes"],
  ["2h", "2 hours"],
  ["24h", "A day"],
] as const;

/** Holds a deployment for a while. */
export function HoldDialog({ id, onClose }: ActionProps) {
  const [span, setSpan] = useState("30m");
  return (
    <Action
      title={`Hold ${id}?`}
      action="Hold"
      said={`${id} gets no requests.`}
      doing={{ path: pathOf(id, "hold"), body: { for: span } }}
      onClose={onClose}
    >
      <p>No request is sent to it, and those under way end. The hold ends by itself.</p>
      <SelectField label="For" value={span} choices={SPANS} onInput={setSpan} />
    </Action>
  );
}

/** Ends the hold of a deployment. */
export function ReleaseDialog({ id, onClose }: ActionProps) {
  return (
    <Action
      title={`Release ${id}?`}
      action="Release"
      said={`${id} gets requests again.`}
      doing={{ path: pathOf(id, "release") }}
      onClose={onClose}
    >
      <p>Requests are sent to it again at once.</p>
    </Action>
  );
}
