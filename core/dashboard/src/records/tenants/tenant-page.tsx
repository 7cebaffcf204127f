/** The page of one record of a kind. */

import { useState } from "preact/hooks";
import { get } from "../../api/client.ts";
import type { Limits } from "../../api/records.ts";
import { useRead, useRefresh } from "../../app/live.ts";
import { useMayOn } from "../../app/may.ts";
import { go, href } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { Menu, MenuItem } from "../../parts/menu.tsx";
import { Facts, Head, Panel } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { toast } from "../../parts/toasts.tsx";
import { limitFacts, OriginMark, StateMark, stateOf, UsePanels } from "../limit-views.tsx";
import { RecordDialog } from "../record-dialog.tsx";
import type { Names, TenantKind } from "./kind.ts";
import { BlockTenant, DeleteTenant } from "./tenant-actions.tsx";

type Open = "edit" | "block" | "delete";
type Info<Row> = Readonly<Record<string, Row>>;

interface PageProps<Row extends Limits> {
  readonly kind: TenantKind<Row>;
  readonly path: readonly string[];
}

/** The page. */
export function TenantPage<Row extends Limits>({ kind, path }: PageProps<Row>) {
  const names = kind.namesOf(path);
  const { data, error, refetch } = useRead<Info<Row>>(`/${kind.kind}/info`, names, {
    isLive: true,
  });
  const [open, setOpen] = useState<Open>();
  const row = data?.[`${kind.kind}_info`];
  const parent = [kind.title, href([kind.plural])] as const;
  if (row === undefined)
    return (
      <>
        <Head title={path.at(-1) ?? ""} parent={parent} />
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}
      </>
    );
  const { Panels } = kind;
  return (
    <>
      <Head
        title={kind.nameOf(row)}
        parent={parent}
        marks={
          <>
            <StateMark state={stateOf(row)} spend={row.spend} max={row.max_budget} />
            <OriginMark by={row.managed_by} />
          </>
        }
        actions={
          row.managed_by === "file" ? undefined : <Actions kind={kind} row={row} onOpen={setOpen} />
        }
      />
      <div class="columns wide-first">
        <div class="stack">{Panels !== undefined && <Panels row={row} names={names} />}</div>
        <div class="stack">
          <UsePanels record={row} />
          <Panel title="What it is">
            <Facts rows={[...kind.facts(row), ...limitFacts(row)]} />
          </Panel>
        </div>
      </div>
      {open !== undefined && (
        <Opened
          kind={kind}
          names={names}
          row={row}
          open={open}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

function Actions<Row extends Limits>(props: {
  readonly kind: TenantKind<Row>;
  readonly row: Row;
  readonly onOpen: (open: Open) => void;
}) {
  const { kind, row, onOpen } = props;
  const may = useMayOn(kind.placeOf(row));
  const { blocked } = row;
  return (
    <>
      {may(kind.may.update) && (
        <Button icon="edit" onClick={() => onOpen("edit")}>
          Edit
        </Button>
      )}
      {may(blocked ? kind.may.unblock : kind.may.block) && (
        <Button
          icon="lock"
          onClick={() => onOpen("block")}
          {...(!blocked && { kind: "danger" as const })}
        >
          {blocked ? "Unblock" : "Block"}
        </Button>
      )}
      {may(kind.may.delete) && (
        <Menu label="More actions" isIconOnly>
          <MenuItem icon="trash" isDangerous onClick={() => onOpen("delete")}>
            Delete
          </MenuItem>
        </Menu>
      )}
    </>
  );
}

function Opened<Row extends Limits>(props: {
  readonly kind: TenantKind<Row>;
  readonly names: Names;
  readonly row: Row;
  readonly open: Open;
  readonly onClose: () => void;
}) {
  const { kind, names, row, open, onClose } = props;
  const refresh = useRefresh();
  const name = kind.nameOf(row);
  const done = (text: string): void => {
    toast(text);
    refresh(`/${kind.kind}/`);
    onClose();
  };
  const actions = { kind, names, row, onClose } as const;
  switch (open) {
    case "edit":
      return (
        <RecordDialog
          title={`Edit ${name}`}
          action="Save"
          specs={kind.specs}
          path={`/${kind.kind}/update`}
          fixed={names}
          sluice={[kind.plural, "update", names[`${kind.kind}_id`] ?? ""]}
          record={row}
          reread={async () =>
            (await get<Info<Row>>(`/${kind.kind}/info`, names))[`${kind.kind}_info`] ?? row
          }
          onDone={() => done(`${name} is changed.`)}
          onClose={onClose}
        />
      );
    case "block":
      return <BlockTenant {...actions} onDone={done} />;
    case "delete":
      return (
        <DeleteTenant
          {...actions}
          onDone={(text) => {
            toast(text);
            go(href([kind.plural]));
            refresh(`/${kind.kind}/list`);
          }}
        />
      );
  }
}
