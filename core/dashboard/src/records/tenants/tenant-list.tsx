/** The list of a kind of records. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Limits } from "../../api/records.ts";
import { useRead, useRefresh } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { go, href, useFilters } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { Head } from "../../parts/page.tsx";
import { SearchBox } from "../../parts/search-box.tsx";
import { Empty } from "../../parts/states.tsx";
import { Pager, Table, TableTools, useColumns } from "../../parts/table.tsx";
import { RecordDialog } from "../record-dialog.tsx";
import type { TenantKind } from "./kind.ts";

const LIMIT = 50;
const FILTERS = ["search", "organization_id", "user_id", "team_id", "cursor"] as const;

type Page<Row> = Readonly<Record<string, readonly Row[]>> & {
  readonly next_cursor: string | null;
};

/** The list. */
export function TenantList<Row extends Limits>({ kind }: { readonly kind: TenantKind<Row> }) {
  const may = useMay();
  const refresh = useRefresh();
  const [isMaking, setMaking] = useState(false);
  const create = may(kind.may.create) && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New {kind.kind}
    </Button>
  );
  return (
    <>
      <Head title={kind.title} lead={kind.lead} actions={create} />
      <Rows kind={kind} create={create} />
      {isMaking && (
        <RecordDialog<Row>
          title={`New ${kind.kind}`}
          action={`Create ${kind.kind}`}
          specs={kind.specs}
          path={`/${kind.kind}/new`}
          sluice={[kind.plural, "create"]}
          onDone={(row) => {
            refresh(`/${kind.kind}/`);
            go(href([kind.plural, ...kind.pathOf(row)]));
          }}
          onClose={() => setMaking(false)}
        />
      )}
    </>
  );
}

function Rows<Row extends Limits>(props: {
  readonly kind: TenantKind<Row>;
  readonly create: ComponentChildren;
}) {
  const { kind, create } = props;
  const [filters, setFilters] = useFilters(FILTERS);
  const { search, cursor } = filters;
  const chosen = useColumns(kind.columns);
  const own = Object.fromEntries(kind.filters.map((name) => [name, filters[name]]));
  const { data, error, refetch } = useRead<Page<Row>>(`/${kind.kind}/list`, {
    search,
    cursor,
    ...own,
    limit: LIMIT,
  });
  const rows = data?.[kind.plural];
  const isFiltered = search !== "" || Object.values(own).some((value) => value !== "");
  return (
    <section class="panel" aria-label={kind.title}>
      <header class="filters">
        <SearchBox
          label={kind.search}
          value={search}
          onSearch={(text) => setFilters({ search: text, cursor: "" })}
        />
        {kind.filters
          .filter((name) => filters[name] !== "")
          .map((name) => (
            <Button key={name} icon="close" onClick={() => setFilters({ [name]: "", cursor: "" })}>
              {name.replace("_id", "")}: {filters[name]}
            </Button>
          ))}
        <span class="end row">
          <TableTools caption={kind.title} columns={kind.columns} chosen={chosen} rows={rows} />
        </span>
      </header>
      <Table
        caption={kind.title}
        columns={kind.columns}
        chosen={chosen}
        rows={rows}
        keyOf={(row) => kind.pathOf(row).join("/")}
        error={error}
        onRetry={() => void refetch()}
        empty={<None kind={kind} isFiltered={isFiltered} create={create} />}
      />
      {rows !== undefined && rows.length > 0 && (
        <Pager
          shown={rows.length}
          noun={rows.length === 1 ? kind.kind : kind.plural}
          isFirst={cursor === ""}
          hasNext={data?.next_cursor != null}
          onFirst={() => setFilters({ cursor: "" }, "push")}
          onNext={() => setFilters({ cursor: data?.next_cursor ?? "" }, "push")}
        />
      )}
    </section>
  );
}

function None<Row extends Limits>(props: {
  readonly kind: TenantKind<Row>;
  readonly isFiltered: boolean;
  readonly create: ComponentChildren;
}) {
  const { kind, isFiltered, create } = props;
  if (isFiltered)
    return (
      <Empty icon="search" title={`No ${kind.kind} matches`}>
        The search finds the beginning of an id or a name.
      </Empty>
    );
  return (
    <Empty icon={kind.icon} title={`There are no ${kind.plural} yet`} actions={create}>
      The command line makes one too: <code>sluice {kind.plural} create</code>
    </Empty>
  );
}
