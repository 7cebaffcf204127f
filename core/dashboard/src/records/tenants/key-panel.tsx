/** The keys of a team or a user, as a panel. */

import type { UseQueryResult } from "@tanstack/preact-query";
import type { ApiError } from "../../api/api-error.ts";
import type { KeyPage, ListedKey } from "../../api/records.ts";
import { useRead } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { href } from "../../app/route.ts";
import { LinkButton } from "../../parts/button.tsx";
import { BudgetBar } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { IdLink, StateMark, trafficText } from "../limit-views.tsx";

const SHOWN = 20;

const COLUMNS: readonly Column<ListedKey>[] = [
  {
    name: "name",
    title: "Key",
    isHead: true,
    cell: (row) => (
      <span class="main-cell">
        <a href={href(["keys", row.token_id])}>{row.key_alias ?? row.token_id}</a>
        <small class="mono">{row.key_name ?? row.token_id}</small>
      </span>
    ),
  },
  {
    name: "state",
    title: "State",
    cell: (row) => <StateMark state={row.status} spend={row.spend} max={row.max_budget} />,
  },
  { name: "user", title: "User", cell: (row) => <IdLink screen="users" id={row.user_id} /> },
  {
    name: "spend",
    title: "Spend",
    cell: (row) => <BudgetBar spent={row.spend} max={row.max_budget} soft={row.soft_budget} />,
  },
  { name: "limits", title: "Limits", cell: (row) => trafficText(row) || "–" },
];

type Filter = Readonly<Record<string, string>>;

/** The keys of the panel. */
export function useKeyPage(filter: Filter): UseQueryResult<KeyPage, ApiError> {
  const enabled = useMay()("key.read");
  return useRead<KeyPage>("/key/list", { ...filter, limit: SHOWN }, { enabled });
}

/** The panel. */
export function KeyPanel(props: { readonly filter: Filter; readonly mayCreate: boolean }) {
  const { filter, mayCreate } = props;
  const may = useMay();
  const { data, error, refetch } = useKeyPage(filter);
  if (!may("key.read")) return null;
  const create = mayCreate && (
    <LinkButton icon="plus" href={href(["keys"], { ...filter, new: "1" })}>
      New key
    </LinkButton>
  );
  return (
    <Panel
      title="Keys"
      isFlush
      end={
        <>
          <a href={href(["keys"], filter)}>All its keys</a>
          {create}
        </>
      }
    >
      <Table
        caption="Keys"
        columns={COLUMNS}
        rows={data?.keys}
        keyOf={(row) => row.token_id}
        error={error}
        onRetry={() => void refetch()}
        empty={<Empty icon="key" title="No keys yet" />}
      />
    </Panel>
  );
}
