/** The page of one key: what it is, what it may do, what it did, and what can be done with it. */

import { useState } from "preact/hooks";
import { get } from "../../api/client.ts";
import type { KeyRow } from "../../api/records.ts";
import { useRead, useRefresh } from "../../app/live.ts";
import { useMayOn } from "../../app/may.ts";
import { go, href } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { Mark, When } from "../../parts/marks.tsx";
import { Menu, MenuItem } from "../../parts/menu.tsx";
import { Facts, Head, Panel } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { toast } from "../../parts/toasts.tsx";
import {
  limitFacts,
  OriginMark,
  StateMark,
  stateOf,
  UsePanels,
} from "../../records/limit-views.tsx";
import { RecordDialog } from "../../records/record-dialog.tsx";
import { LastRequests } from "../../records/last-requests.tsx";
import { BlockKey, DeleteKey, RotateKey } from "./key-actions.tsx";
import { KEY_SPECS } from "./key-specs.ts";

interface KeyInfo {
  readonly info: KeyRow;
}

type Open = "edit" | "rotate" | "block" | "delete";

/** The page. */
export function KeyPage({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRead<KeyInfo>("/key/info", { key: id }, { isLive: true });
  const [open, setOpen] = useState<Open>();
  const key = data?.info;
  const parent = ["Keys", "#/keys"] as const;
  if (key === undefined)
    return (
      <>
        <Head title={id} parent={parent} />
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}
      </>
    );
  return (
    <>
      <Head
        title={key.key_alias ?? key.token_id}
        parent={parent}
        marks={
          <>
            <StateMark state={stateOf(key)} spend={key.spend} max={key.max_budget} />
            <OriginMark by={key.managed_by} />
            {key.admin && <Mark tone="accent">admin key</Mark>}
          </>
        }
        actions={key.declared ? undefined : <Actions record={key} onOpen={setOpen} />}
      />
      <div class="columns wide-first">
        <div class="stack">
          <LastRequests title="Last requests" filter={{ key: id }} />
        </div>
        <div class="stack">
          <UsePanels record={key} />
          <Panel title="What it is">
            <Facts rows={[...identityFacts(key), ...limitFacts(key)]} />
          </Panel>
        </div>
      </div>
      {open !== undefined && <Opened open={open} record={key} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function identityFacts(key: KeyRow) {
  return [
    ["Id", <code>{key.token_id}</code>],
    ["Ends with", key.key_name === null ? undefined : <code>{key.key_name}</code>],
    ["Declared in", key.declared ? "the configuration" : undefined],
    ["Team", key.team_id && <a href={href(["teams", key.team_id])}>{key.team_id}</a>],
    ["User", key.user_id && <a href={href(["users", key.user_id])}>{key.user_id}</a>],
    ["Organization", key.organization_id ?? undefined],
    ["Customer", key.customer_id ?? undefined],
    [
      "Old secret works until",
      key.previous_key_until === null ? undefined : <When at={key.previous_key_until} />,
    ],
  ] as const;
}

function Actions(props: { readonly record: KeyRow; readonly onOpen: (open: Open) => void }) {
  const { record, onOpen } = props;
  const may = useMayOn({
    organizations: [record.organization_id],
    team: record.team_id,
    user: record.user_id,
  });
  const isBlocked = record.blocked;
  return (
    <>
      {may("key.update") && (
        <Button icon="edit" onClick={() => onOpen("edit")}>
          Edit
        </Button>
      )}
      {may(isBlocked ? "key.unblock" : "key.block") && (
        <Button
          icon="lock"
          {...(!isBlocked && { kind: "danger" as const })}
          onClick={() => onOpen("block")}
        >
          {isBlocked ? "Unblock" : "Block"}
        </Button>
      )}
      {(may("key.rotate") || may("key.delete")) && (
        <Menu label="More actions" isIconOnly>
          {may("key.rotate") && (
            <MenuItem icon="refresh" onClick={() => onOpen("rotate")}>
              Rotate the secret
            </MenuItem>
          )}
          {may("key.delete") && (
            <MenuItem icon="trash" isDangerous onClick={() => onOpen("delete")}>
              Delete
            </MenuItem>
          )}
        </Menu>
      )}
    </>
  );
}

function Opened(props: {
  readonly open: Open;
  readonly record: KeyRow;
  readonly onClose: () => void;
}) {
  const { open, record, onClose } = props;
  const refresh = useRefresh();
  const { token_id: id } = record;
  const done = (text: string): void => {
    toast(text);
    refresh("/key/");
    onClose();
  };
  switch (open) {
    case "edit":
      return (
        <RecordDialog
          title={`Edit ${record.key_alias ?? id}`}
          action="Save"
          specs={KEY_SPECS}
          path="/key/update"
          fixed={{ key: id }}
          sluice={["keys", "update", id]}
          record={{ ...record }}
          reread={async () => ({ ...(await get<KeyInfo>("/key/info", { key: id })).info })}
          onDone={() => done("The key is changed. Its next request is held to it.")}
          onClose={onClose}
        />
      );
    case "rotate":
      return <RotateKey record={record} onDone={done} onClose={onClose} />;
    case "block":
      return <BlockKey record={record} onDone={done} onClose={onClose} />;
    case "delete":
      return (
        <DeleteKey
          record={record}
          onDone={(text) => {
            toast(text);
            go(href(["keys"]));
            refresh("/key/list");
          }}
          onClose={onClose}
        />
      );
  }
}
