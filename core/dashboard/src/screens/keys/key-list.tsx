/** The list of keys: search, filters, one page of the gateway at a time. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { KeyPage } from "../../api/records.ts";
import { useRead, useRefresh } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { go, href, useFilters } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { Select } from "../../parts/field.tsx";
import { Head } from "../../parts/page.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { Empty } from "../../parts/states.tsx";
import { Pager, Table, TableTools, useColumns } from "../../parts/table.tsx";
import { BulkBar } from "./bulk-keys.tsx";
import { KEY_COLUMNS } from "./key-columns.tsx";
import { useSelection } from "./selection.tsx";
import { NewKey } from "./new-key.tsx";

const LIMIT = 50;
const FILTERS = ["search", "team_id", "user_id", "status", "sort", "cursor", "new"] as const;

type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;
type Change = (changes: Partial<Filters>) => void;

const STATES = [
  ["", "Any state"],
  ["active", "Active"],
  ["blocked", "Blocked"],
  ["expired", "Expired"],
] as const;

const ORDERS = [
  ["", "Newest first"],
  ["oldest", "Oldest first"],
  ["alias", "By name"],
  ["expires", "By end"],
] as const;

/** The list. */
export function KeyList() {
  const may = useMay();
  const refresh = useRefresh();
  const [filters, setFilters] = useFilters(FILTERS);
  const [isMaking, setMaking] = useState(filters.new === "1");
  const newKey = may("key.create") && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New key
    </Button>
  );
  return (
    <>
      <Head
        title="Keys"
        lead="What clients call the gateway with. A key's own limits and those of its team, user and organization all hold."
        actions={newKey}
      />
      <KeyTable
        filters={filters}
        onChange={(changes) => setFilters({ cursor: "", ...changes })}
        onPage={(cursor) => setFilters({ cursor }, "push")}
        newKey={newKey}
      />
      {isMaking && (
        <NewKey
          first={filters.team_id === "" ? {} : { team_id: [filters.team_id] }}
          onMade={() => refresh("/key/", "/team/info")}
          onClose={(made) => {
            setMaking(false);
            if (made !== undefined) go(href(["keys", made]));
          }}
        />
      )}
    </>
  );
}

function KeyTable(props: {
  readonly filters: Filters;
  readonly onChange: Change;
  readonly onPage: (cursor: string) => void;
  readonly newKey: ComponentChildren;
}) {
  const { filters, onChange, onPage, newKey } = props;
  const { new: _new, ...query } = filters;
  const selection = useSelection(filters);
  const columns = useMay()("key.update") ? [selection.column, ...KEY_COLUMNS] : KEY_COLUMNS;
  const chosen = useColumns(columns);
  const { data, error, refetch } = useRead<KeyPage>("/key/list", { ...query, limit: LIMIT });
  const rows = data?.keys;
  const { cursor } = filters;
  return (
    <section class="panel" aria-label="Keys">
      <header class="filters">
        <KeyFilters filters={filters} onChange={onChange} />
        <span class="end row">
          <TableTools caption="Keys" columns={columns} chosen={chosen} rows={rows} />
        </span>
      </header>
      <Table
        caption="Keys"
        columns={columns}
        chosen={chosen}
        rows={rows}
        keyOf={(row) => row.token_id}
        error={error}
        onRetry={() => void refetch()}
        empty={<NoKeys filters={filters} newKey={newKey} />}
      />
      <BulkBar
        selected={(rows ?? []).filter(({ token_id: id }) => selection.ids.has(id))}
        onClear={selection.clear}
      />
      {rows !== undefined && rows.length > 0 && (
        <Pager
          shown={rows.length}
          noun={rows.length === 1 ? "key" : "keys"}
          isFirst={cursor === ""}
          hasNext={Boolean(data?.next_cursor)}
          onFirst={() => onPage("")}
          onNext={() => onPage(data?.next_cursor ?? "")}
        />
      )}
    </section>
  );
}

function KeyFilters({ filters, onChange }: { filters: Filters; onChange: Change }) {
  return (
    <>
      <SearchBox
        label="Search by name, id or user"
        value={filters.search}
        onSearch={(search) => onChange({ search })}
      />
      <Select
        label="State"
        value={filters.status}
        choices={STATES}
        onInput={(status) => onChange({ status })}
      />
      <Select
        label="Order"
        value={filters.sort}
        choices={ORDERS}
        onInput={(sort) => onChange({ sort })}
      />
      {(["team_id", "user_id"] as const)
        .filter((name) => filters[name] !== "")
        .map((name) => (
          <Button key={name} icon="close" onClick={() => onChange({ [name]: "" })}>
            {name === "team_id" ? "Team" : "User"}: {filters[name]}
          </Button>
        ))}
    </>
  );
}

function NoKeys(props: { readonly filters: Filters; readonly newKey: ComponentChildren }) {
  const { search, status, team_id: team, user_id: user } = props.filters;
  if (`${search}${status}${team}${user}` !== "")
    return (
      <Empty icon="search" title="No key matches">
        The search finds the beginning of a name, an id or a user.
      </Empty>
    );
  return (
    <Empty icon="key" title="There are no keys yet" actions={props.newKey}>
      The command line makes one too: <code>sluice keys create --alias laptop</code>
    </Empty>
  );
}
