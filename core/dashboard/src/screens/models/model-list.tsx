/** The models that clients may name: targets, weights, prices and fallbacks of each. */

import type { ComponentChildren } from "preact";
import type { Model, ModelPage, ModelTarget } from "../../api/models.ts";
import { useRead } from "../../app/live.ts";
import { href, useFilters } from "../../app/route.ts";
import { Mark } from "../../parts/marks.tsx";
import { money } from "../../parts/format.ts";
import { SearchBox } from "../../parts/search-box.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Pager, Table, TableTools, useColumns } from "../../parts/table.tsx";
import { PlaceText } from "../../records/place.tsx";
import { HealthMark } from "./health.tsx";

const LIMIT = 50;
const EVERY_MS = 10_000;

/** The list. */
export function ModelList() {
  const [filters, setFilters] = useFilters(["search", "cursor"] as const);
  const { data, error, refetch } = useRead<ModelPage>(
    "/models",
    { ...filters, limit: LIMIT },
    { isLive: true, everyMs: EVERY_MS },
  );
  const chosen = useColumns(COLUMNS);
  const rows = data?.models;
  const onPage = (cursor: string): void => setFilters({ cursor }, "push");
  return (
    <section class="panel" aria-label="Models">
      <header class="filters">
        <SearchBox
          label="Search by model or deployment"
          value={filters.search}
          onSearch={(search) => setFilters({ search, cursor: "" })}
        />
        <span class="end row">
          <TableTools caption="Models" columns={COLUMNS} chosen={chosen} rows={rows} />
        </span>
      </header>
      <Table
        caption="Models"
        columns={COLUMNS}
        chosen={chosen}
        rows={rows}
        keyOf={({ model }) => model}
        error={error}
        onRetry={() => void refetch()}
        empty={<NoModels isSearch={filters.search !== ""} />}
      />
      {rows !== undefined && rows.length > 0 && (
        <Pager
          shown={rows.length}
          noun={rows.length === 1 ? "model" : "models"}
          isFirst={filters.cursor === ""}
          hasNext={data?.next_cursor != null}
          onFirst={() => onPage("")}
          onNext={() => onPage(data?.next_cursor ?? "")}
        />
      )}
    </section>
  );
}

function NoModels({ isSearch }: { readonly isSearch: boolean }) {
  if (isSearch)
    return (
      <Empty icon="search" title="No model matches">
        The search finds a part of the id of a model, or of a deployment.
      </Empty>
    );
  return (
    <Empty icon="model" title="There are no models yet">
      <code>models:</code> in gateway.yaml names them.
    </Empty>
  );
}

/** A line for each target, in the order of the other columns. */
function lines(
  { targets }: Model,
  show: (target: ModelTarget) => ComponentChildren,
): ComponentChildren {
  return (
    <span class="lines">
      {targets.map((target) => (
        <span key={target.declared_in + target.deployment}>{show(target)}</span>
      ))}
    </span>
  );
}

const COLUMNS: readonly Column<Model>[] = [
  {
    name: "model",
    title: "Model",
    isHead: true,
    text: ({ model }) => model,
    cell: (row) => (
      <span class="main-cell">
        <span>{row.model}</span>
        <small>
          {row.mode}
          {row.only_named && ", for keys that name it"}
        </small>
      </span>
    ),
  },
  {
    name: "targets",
    title: "Targets",
    text: ({ targets }) => targets.map(({ deployment }) => deployment).join(", "),
    cell: (row) => (
      <>
        {lines(row, (target) => (
          <TargetName target={target} />
        ))}
        {row.targets_total > row.targets.length && (
          <small class="muted">and {row.targets_total - row.targets.length} more</small>
        )}
      </>
    ),
  },
  {
    name: "health",
    title: "Health",
    text: ({ targets }) => targets.map(({ health }) => health?.health ?? "").join(", "),
    cell: (row) => lines(row, (target) => <TargetHealth target={target} />),
  },
  {
    name: "weight",
    title: "Weight",
    isNumber: true,
    text: ({ targets }) => targets.map(({ weight }) => weight).join(", "),
    cell: (row) => lines(row, ({ weight }) => weight),
  },
  {
    name: "input",
    title: "In, per 1M",
    isNumber: true,
    text: ({ targets }) => targets.map(({ price }) => price?.input ?? "").join(", "),
    cell: (row) => lines(row, ({ price }) => <Price price={price} of="input" />),
  },
  {
    name: "output",
    title: "Out, per 1M",
    isNumber: true,
    text: ({ targets }) => targets.map(({ price }) => price?.output ?? "").join(", "),
    cell: (row) => lines(row, ({ price }) => <Price price={price} of="output" />),
  },
  {
    name: "fallbacks",
    title: "Fallbacks",
    text: ({ fallbacks }) => fallbackTexts(fallbacks).join("; "),
    cell: ({ fallbacks }) => {
      const texts = fallbackTexts(fallbacks);
      if (texts.length === 0) return <span class="muted">–</span>;
      return (
        <span class="lines">
          {texts.map((text) => (
            <span key={text}>{text}</span>
          ))}
        </span>
      );
    },
  },
  {
    name: "groups",
    title: "Access groups",
    isHiddenAtFirst: true,
    text: ({ access_groups: groups }) => groups.join(", "),
    cell: ({ access_groups: groups }) =>
      groups.length === 0 ? <span class="muted">–</span> : groups.join(", "),
  },
  {
    name: "balance",
    title: "Balance",
    isHiddenAtFirst: true,
    text: ({ balance }) => balance,
    cell: ({ balance }) => balance ?? <span class="muted">as the step says</span>,
  },
  {
    name: "source",
    title: "Source of prices",
    isHiddenAtFirst: true,
    text: ({ targets }) => targets.map(({ price }) => price?.source ?? "").join(", "),
    cell: (row) => lines(row, ({ price }) => price?.source ?? <span class="muted">no price</span>),
  },
  {
    name: "declared",
    title: "Declared in",
    text: ({ declared_in: place }) => place,
    cell: ({ declared_in: place }) => <PlaceText at={place} />,
  },
];

function fallbackTexts(fallbacks: Model["fallbacks"]): readonly string[] {
  return Object.entries(fallbacks).map(
    ([of, models]) =>
      `${of.replaceAll("_", " ")}: ${models.length === 0 ? "none" : models.join(", ")}`,
  );
}

function TargetName({ target }: { readonly target: ModelTarget }) {
  const { deployment, health, max_parallel: parallel, rpm, tpm, tags } = target;
  const limits = [
    parallel !== null && `${parallel} at a time`,
    rpm !== null && `${rpm} requests a minute`,
    tpm !== null && `${tpm} tokens a minute`,
    tags.length > 0 && `tags ${tags.join(", ")}`,
  ].filter((limit) => limit !== false);
  const title = limits.length === 0 ? undefined : limits.join(", ");
  if (health === null || deployment.includes("*")) return <span title={title}>{deployment}</span>;
  return (
    <a href={href(["models", deployment])} title={title}>
      {deployment}
    </a>
  );
}

function TargetHealth({ target: { missing, health } }: { readonly target: ModelTarget }) {
  if (missing.length > 0)
    return (
      <Mark tone="warn" title={`Without a value: ${missing.join(", ")}`}>
        not available
      </Mark>
    );
  if (health === null) return <span class="muted">–</span>;
  return (
    <HealthMark
      health={health.health}
      heldUntil={health.held_until}
      isRefused={health.credential_refused}
    />
  );
}

function Price(props: { readonly price: ModelTarget["price"]; readonly of: "input" | "output" }) {
  const { price, of } = props;
  if (price === null)
    return (
      <span class="muted" title="Its cost is unknown. prices.yaml can name a price.">
        no price
      </span>
    );
  if (price.free) return <span title={`From ${price.source}`}>free</span>;
  const more = price.more.length === 0 ? "" : `, with ${price.more.join(", ")}`;
  return <span title={`From ${price.source}${more}`}>{money(price[of])}</span>;
}
