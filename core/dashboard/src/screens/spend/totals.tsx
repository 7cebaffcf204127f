/** The sums of a whole period. */

import type { SpendSummary } from "../../api/spend.ts";
import { compact, money, share } from "../../parts/format.ts";
import { Tile, Tiles } from "../../parts/tiles.tsx";
import { forecast } from "./periods.ts";

/** The tiles. Rows that are not priced, or estimated, are named and not hidden. */
export function Totals(props: {
  readonly total: SpendSummary["total"] | undefined;
  readonly period: string;
}) {
  const { total, period } = props;
  const spend = total?.spend;
  const lost = total?.lost_spend;
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
        value={compact(total?.requests)}
        more={`${compact(total?.rows)} rows`}
      />
      <Tile name="Tokens" value={compact(total?.total_tokens)} more="read and written" />
      <Tile
        name="From the cache"
        value={compact(total?.cache_hits)}
        more="answers without a call"
      />
      <Tile
        name="Rows without a price"
        value={compact(total?.unpriced_rows)}
        more={`${compact(total?.estimated_rows)} with estimated tokens`}
      />
    </Tiles>
  );
}
