/** The sums of a whole period. */

import type { SpendGroup, SpendReport } from "../../api/spend.ts";
import { compact, money, share } from "../../parts/format.ts";
import { Tile, Tiles } from "../../parts/tiles.tsx";
import { forecast } from "./periods.ts";

type Sum =
  | "spend"
  | "lost_spend"
  | "requests"
  | "rows"
  | "total_tokens"
  | "unpriced_rows"
  | "estimated_rows"
  | "cache_hits";

/** The tiles. Rows that are not priced, or estimated, are named and not hidden. */
export function Totals(props: {
  readonly report: SpendReport | undefined;
  readonly period: string;
}) {
  const { report, period } = props;
  const groups = report?.data;
  const sum = (name: Sum): number | undefined =>
    groups?.reduce((total: number, group: SpendGroup) => total + group[name], 0);
  const spend = sum("spend");
  const lost = sum("lost_spend");
  const expected = spend === undefined ? undefined : forecast(period, spend, Date.now());
  return (
    <Tiles>
      <Tile
        name="Spend"
        value={money(spend)}
        more={expected === undefined ? "" : `${money(expected)} at the end of the month`}
      />
      <Tile
        name="Failed and cut"
        value={money(lost)}
        more={spend && lost !== undefined ? share(lost / spend) : ""}
      />
      <Tile
        name="Requests"
        value={compact(sum("requests"))}
        more={`${compact(sum("rows"))} rows`}
      />
      <Tile name="Tokens" value={compact(sum("total_tokens"))} more="read and written" />
      <Tile
        name="From the cache"
        value={compact(sum("cache_hits"))}
        more="answers without a call"
      />
      <Tile
        name="Rows without a price"
        value={compact(sum("unpriced_rows"))}
        more={`${compact(sum("estimated_rows"))} with estimated tokens`}
      />
    </Tiles>
  );
}
