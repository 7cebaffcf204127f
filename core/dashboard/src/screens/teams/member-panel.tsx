/** The members of a team. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { MemberRow } from "../../api/records.ts";
import { useRead, useRefresh } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { SelectField } from "../../parts/field.tsx";
import { Mark } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { toast } from "../../parts/toasts.tsx";
import type { FieldSpec } from "../../records/field-spec.ts";
import { IdLink } from "../../records/limit-views.tsx";
import { userOptions } from "../../records/options.ts";
import { RecordDialog } from "../../records/record-dialog.tsx";
import { BUDGET_SPECS, TRAFFIC_SPECS } from "../../records/specs.ts";
import { useSend } from "../../records/use-send.ts";

const LIMIT = 100;

const MEMBER_SPECS: readonly FieldSpec[] = [
  {
    name: "user_id",
    label: "User",
    group: "Member",
    kind: "ref",
    optionsFor: userOptions,
    takesOthers: false,
    isFixed: true,
    isPositional: true,
  },
  {
    name: "role",
    label: "Role in the team",
    hint: "An admin manages the keys of the team.",
    group: "Member",
    kind: "choice",
    choices: [
      ["member", "Member"],
      ["admin", "Admin"],
    ],
    normal: "member",
    option: "--role",
  },
  ...BUDGET_SPECS,
  ...TRAFFIC_SPECS,
];

interface MemberPage {
  readonly members: readonly MemberRow[];
}

type Open = { readonly is: "add" } | { readonly is: "edit" | "remove"; readonly row: MemberRow };

/** The panel. */
export function MemberPanel(props: { readonly teamId: string; readonly mayWrite: boolean }) {
  const { teamId, mayWrite } = props;
  const may = useMay();
  const { data, error, refetch } = useRead<MemberPage>(
    "/team/member_list",
    { team_id: teamId, limit: LIMIT },
    { enabled: may("member.read") },
  );
  const [open, setOpen] = useState<Open>();
  if (!may("member.read")) return null;
  const add = mayWrite && (
    <Button icon="plus" onClick={() => setOpen({ is: "add" })}>
      Add a member
    </Button>
  );
  return (
    <Panel title="Members" isFlush end={add}>
      <Table
        caption="Members"
        columns={columnsOf(mayWrite, setOpen)}
        rows={data?.members}
        keyOf={(row) => row.user_id}
        error={error}
        onRetry={() => void refetch()}
        empty={
          <Empty icon="user" title="No members">
            Keys of the team need none. Members have limits of their own inside of it.
          </Empty>
        }
      />
      {open !== undefined && (
        <Opened teamId={teamId} open={open} onClose={() => setOpen(undefined)} />
      )}
    </Panel>
  );
}

function columnsOf(mayWrite: boolean, onOpen: (open: Open) => void): readonly Column<MemberRow>[] {
  return [
    {
      name: "user",
      title: "User",
      isHead: true,
      cell: (row) => <IdLink screen="users" id={row.user_id} />,
    },
    {
      name: "role",
      title: "Role",
      cell: ({ role }) => <Mark tone={role === "admin" ? "accent" : "plain"}>{role}</Mark>,
    },
    {
      name: "actions",
      title: "",
      isNumber: true,
      cell: (row) =>
        mayWrite &&
        row.managed_by !== "file" && (
          <>
            <Button
              kind="quiet"
              icon="edit"
              label={`Edit ${row.user_id}`}
              onClick={() => onOpen({ is: "edit", row })}
            />
            <Button
              kind="quiet"
              icon="trash"
              label={`Remove ${row.user_id}`}
              onClick={() => onOpen({ is: "remove", row })}
            />
          </>
        ),
    },
  ];
}

function Opened(props: {
  readonly teamId: string;
  readonly open: Open;
  readonly onClose: () => void;
}) {
  const { teamId, open, onClose } = props;
  const refresh = useRefresh();
  const done = (text: string): void => {
    toast(text);
    refresh("/team/", "/key/");
    onClose();
  };
  if (open.is === "remove") return <RemoveMember row={open.row} onDone={done} onClose={onClose} />;
  const shared = { specs: MEMBER_SPECS, onClose } as const;
  if (open.is === "add")
    return (
      <RecordDialog
        {...shared}
        title="Add a member"
        action="Add"
        path="/team/member_add"
        fixed={{ team_id: teamId }}
        sluice={["members", "add", teamId]}
        onDone={() => done("The member is added.")}
      />
    );
  const { row } = open;
  return (
    <RecordDialog
      {...shared}
      title={`Edit ${row.user_id}`}
      action="Save"
      path="/team/member_update"
      fixed={{ team_id: teamId, user_id: row.user_id }}
      sluice={["members", "update", teamId, row.user_id]}
      record={{ ...row }}
      onDone={() => done("The member is changed.")}
    />
  );
}

function RemoveMember(props: {
  readonly row: MemberRow;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}) {
  const { row, onDone, onClose } = props;
  const { team_id: team, user_id: user } = row;
  const sending = useSend();
  const [keys, setKeys] = useState("block");
  const body = { team_id: team, user_id: user, keys };
  const confirm = async (): Promise<void> => {
    const answer = await sending.run(() => post<object>("/team/member_delete", body));
    if (answer !== undefined) onDone(`${user} is no member any more.`);
  };
  return (
    <Confirm
      title={`Remove ${user}?`}
      action="Remove"
      isDangerous
      isBusy={sending.isBusy}
      failure={sending.failure}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <SelectField
        label="The user's keys in the team"
        value={keys}
        choices={[
          ["block", "Are blocked"],
          ["delete", "Are deleted"],
        ]}
        onInput={setKeys}
      />
      <AsCommand
        doing={{
          path: "/team/member_delete",
          body,
          sluice: ["members", "remove", team, user, "--keys", keys],
        }}
      />
    </Confirm>
  );
}
