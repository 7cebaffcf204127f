/** Who is signed in, and the end of a session. */

import type { AdminAnswer } from "@sluice/admin-api";
import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import { useRead, useRefresh } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { href } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Mark, When } from "../../parts/marks.tsx";
import { type Column, TablePanel } from "../../parts/table.tsx";
import { toast } from "../../parts/toasts.tsx";
import { useSend } from "../../records/use-send.ts";

type SessionList = AdminAnswer<"GET /sessions">;
type Row = SessionList["sessions"][number];
type Ending = { readonly session: string } | { readonly all: true };

/** The part of the screen. */
export function Sessions() {
  const may = useMay();
  const [ending, setEnding] = useState<Ending>();
  const { data, error, refetch } = useRead<SessionList>("/sessions", {}, { isLive: true });
  const hasOthers = data?.sessions.some(({ is_own: isOwn }) => !isOwn) ?? false;
  // It stands there before the answer: the table keeps its place.
  const endAll = may("session.end") && (
    <Button kind="danger" disabled={!hasOthers} onClick={() => setEnding({ all: true })}>
      End all others
    </Button>
  );
  return (
    <>
      <TablePanel
        title="Sessions"
        end={endAll}
        columns={columnsOf(may("session.end") ? setEnding : undefined)}
        rows={data?.sessions}
        keyOf={({ session }) => session}
        error={error}
        onRetry={() => void refetch()}
      />
      {ending !== undefined && <End ending={ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

function columnsOf(onEnd: ((ending: Ending) => void) | undefined): readonly Column<Row>[] {
  return [
    {
      name: "actor",
      title: "Key",
      isHead: true,
      cell: ({ actor, is_own: isOwn }) => (
        <span class="row nowrap">
          {actor === "master" ? "Master key" : <a href={href(["keys", actor])}>{actor}</a>}
          {isOwn && <Mark tone="accent">this one</Mark>}
        </span>
      ),
    },
    { name: "address", title: "Address", cell: ({ address }) => <code>{address ?? "–"}</code> },
    { name: "created", title: "Signed in", cell: (row) => <When at={row.created_at} /> },
    { name: "seen", title: "Last used", cell: (row) => <When at={row.seen_at} /> },
    { name: "expires", title: "Ends", cell: (row) => <When at={row.expires_at} /> },
    {
      name: "actions",
      title: "",
      isNumber: true,
      cell: ({ session, is_own: isOwn }) =>
        onEnd !== undefined && !isOwn && <Button onClick={() => onEnd({ session })}>End</Button>,
    },
  ];
}

function End({ ending, onClose }: { readonly ending: Ending; readonly onClose: () => void }) {
  const refresh = useRefresh();
  const sending = useSend();
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() =>
      post<AdminAnswer<"POST /sessions/end">>("/sessions/end", ending),
    );
    if (answer === undefined) return;
    toast(`${answer.ended.length} ${answer.ended.length === 1 ? "session" : "sessions"} ended.`);
    refresh("/sessions");
    onClose();
  };
  return (
    <Confirm
      title={"all" in ending ? "End all other sessions?" : "End the session?"}
      action="End"
      isDangerous
      isBusy={sending.isBusy}
      failure={sending.failure}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>The next request of the browser is refused, and it has to sign in.</p>
    </Confirm>
  );
}
