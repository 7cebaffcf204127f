/** How a block of limits is shown in lists and on pages of single records. */

import type { ComponentChildren } from "preact";
import type { Limits } from "../api/records.ts";
import { href } from "../app/route.ts";
import { compact, count, money } from "../parts/format.ts";
import { BudgetBar, Mark, RateBar, When } from "../parts/marks.tsx";
import { Panel } from "../parts/page.tsx";
import type { Column } from "../parts/table.tsx";

/** Whether requests pass, in a word. */
export type State = "active" | "blocked" | "expired";

/** The state of a record. */
export function stateOf({ blocked, expires }: Pick<Limits, "blocked" | "expires">): State {
  if (blocked) return "blocked";
  return expires !== null && Date.parse(expires) <= Date.now() ? "expired" : "active";
}

/** The state as a mark, with a budget that is used up. */
export function StateMark(props: {
  readonly state: State;
  readonly spend?: number | null | undefined;
  readonly max?: number | null | undefined;
}) {
  const { state, spend, max } = props;
  if (state === "blocked") return <Mark tone="bad">blocked</Mark>;
  if (state === "expired") return <Mark tone="warn">expired</Mark>;
  if (typeof spend === "number" && typeof max === "number" && spend >= max)
    return <Mark tone="warn">budget used up</Mark>;
  return <Mark tone="good">active</Mark>;
}

/** That a record is declared in a file, and so is not changed here. */
export function OriginMark({ by, place }: { readonly by: string; readonly place?: string | null }) {
  if (by !== "file") return null;
  return (
    <Mark icon="file" title={place ?? "Declared in the configuration, and changed there"}>
      in the file
    </Mark>
  );
}

/** The id of another record, as a link to its page. */
export function IdLink({ screen, id }: { readonly screen: string; readonly id: string | null }) {
  if (id === null) return <span class="muted">–</span>;
  return <a href={href([screen, id])}>{id}</a>;
}

/** The models of a record. */
export function Models(props: {
  readonly models: readonly string[];
  /** How many there are, where `models` has the first of them. */
  readonly total?: number | undefined;
}) {
  const { models, total = models.length } = props;
  if (models.length === 0) return <span class="muted">every model</span>;
  const [first = "", second] = models;
  const shown = second === undefined ? first : `${first}, ${second}`;
  return (
    <span title={models.join(", ")}>
      {shown}
      {total > 2 && <span class="muted"> and {total - 2} more</span>}
    </span>
  );
}

/** The first models of a row, each on a line. */
function ModelLines({ models, models_total: total = models.length }: ShortLimits) {
  if (models.length < 2) return <Models models={models} total={total} />;
  const [first, second] = models;
  return (
    <span class="main-cell" title={models.join(", ")}>
      <span>{first}</span>
      <span>
        {second}
        {total > 2 && <span class="muted"> and {total - 2} more</span>}
      </span>
    </span>
  );
}

/** Requests and tokens a minute, in one cell. */
export function trafficText({ rpm_limit: rpm, tpm_limit: tpm }: ShortLimits): string {
  const parts = [
    typeof rpm === "number" ? `${compact(rpm)} rpm` : "",
    typeof tpm === "number" ? `${compact(tpm)} tpm` : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** What rows of lists have of the block. */
export type ShortLimits = Pick<
  Limits,
  | "models"
  | "max_budget"
  | "soft_budget"
  | "rpm_limit"
  | "tpm_limit"
  | "expires"
  | "created_at"
  | "spend"
> & { readonly models_total?: number };

/** Columns of the block. Lists without the spend of each row show the budget. */
export function limitColumns<Row extends ShortLimits>(
  money: "Spend" | "Budget" = "Budget",
): readonly Column<Row>[] {
  return [
    {
      name: "models",
      title: "Models",
      cell: (row) => <ModelLines {...row} />,
      text: ({ models }) => models.join(" "),
    },
    {
      name: "spend",
      title: money,
      cell: (row) => <BudgetBar spent={row.spend} max={row.max_budget} soft={row.soft_budget} />,
      text: (row) => (money === "Spend" ? row.spend : row.max_budget),
    },
    {
      name: "limits",
      title: "Limits",
      cell: (row) => <span class="num nowrap">{trafficText(row) || "–"}</span>,
      text: trafficText,
    },
    {
      name: "expires",
      title: "Expires",
      cell: ({ expires }) => <When at={expires} />,
      text: ({ expires }) => expires,
      isHiddenAtFirst: true,
    },
    {
      name: "created",
      title: "Created",
      cell: (row) => <When at={row.created_at} />,
      text: (row) => row.created_at,
      isHiddenAtFirst: true,
    },
  ];
}

/** The bars of a page: the spend of the period, and the rates of the last minute. */
export function UsePanels({ record }: { readonly record: Limits }) {
  const { rpm_limit: rpm, tpm_limit: tpm, rpm_used: requests, tpm_used: tokens } = record;
  const hasRequests = typeof rpm === "number" && typeof requests === "number";
  const hasTokens = typeof tpm === "number" && typeof tokens === "number";
  return (
    <>
      <Panel title="Spend of the period">
        <BudgetBar spent={record.spend} max={record.max_budget} soft={record.soft_budget} />
      </Panel>
      {(hasRequests || hasTokens) && (
        <Panel title="Use of the last minute">
          <div class="stack-s">
            {hasRequests && <RateBar used={requests} max={rpm} unit="requests" />}
            {hasTokens && <RateBar used={tokens} max={tpm} unit="tokens" />}
          </div>
        </Panel>
      )}
    </>
  );
}

const PERIOD_WORDS: Readonly<Record<string, string>> = {
  "1d": "a day",
  "7d": "a week",
  "1mo": "a month",
};

/** Rows of facts about the block. */
export function limitFacts(
  record: Limits,
): readonly (readonly [name: string, value: ComponentChildren])[] {
  const { budget_duration: period, soft_budget: soft, per_model: perModel } = record;
  const models = Object.keys(perModel);
  return [
    [
      "Budget",
      typeof record.max_budget === "number"
        ? `${money(record.max_budget)}${period ? ` ${PERIOD_WORDS[period] ?? `every ${period}`}` : ""}`
        : "no limit",
    ],
    ["Warns from", typeof soft === "number" ? money(soft) : undefined],
    ["Starts anew", record.budget_reset_at ? <When at={record.budget_reset_at} /> : undefined],
    ["Requests a minute", limit(record.rpm_limit)],
    ["Tokens a minute", limit(record.tpm_limit)],
    ["Requests at once", limit(record.max_parallel_requests)],
    ["Models", <Models models={record.models} />],
    ["Limits by model", models.length > 0 ? models.join(", ") : undefined],
    ["Named budget", record.budget_id ?? undefined],
    ["Tags", record.tags.length > 0 ? record.tags.join(", ") : undefined],
    ["Guardrails", record.guardrails.length > 0 ? record.guardrails.join(", ") : undefined],
    ["Native paths", record.passthrough ? "every path of the providers" : undefined],
    ["Expires", <When at={record.expires} />],
    ["Created", record.created_at === null ? undefined : <When at={record.created_at} />],
    [
      "Notes",
      Object.keys(record.metadata).length > 0 ? (
        <pre>{JSON.stringify(record.metadata, null, 2)}</pre>
      ) : undefined,
    ],
  ];
}

function limit(amount: number | null | undefined): string {
  return typeof amount === "number" ? count(amount) : "no limit";
}
