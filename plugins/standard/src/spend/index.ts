/** The step `spend`: spend reports, and calculations of a cost. */

import { defineStep } from "@sluice/kit";
import { type Exchange, GatewayError, type Host, type Reply } from "@sluice/contract";
import { calculateSpend } from "./calculate.ts";
import { spendLogs } from "./logs.ts";
import { spendReport } from "./report.ts";
import { spendTags } from "./tags.ts";
import { createTurns } from "./turns.ts";

/** Reports by the last segment of the path: `/spend/logs` is `logs`. */
const REPORTS: Readonly<Record<string, (exchange: Exchange, host: Host) => Promise<Reply>>> = {
  logs: spendLogs,
  report: spendReport,
  tags: spendTags,
  calculate: calculateSpend,
};

export const spend = defineStep<Record<string, never>>({
  name: "spend",
  stability: "beta",
  summary:
    "Answers with spend rows, their sums, or the cost of a request: by the path's last segment, `logs`, `tags`, `report` or `calculate`. Ends the pipeline.",
  config: { type: "object", properties: {} },
  operations: ["spend"],
  traits: { terminal: true },
  order: {
    requires: [{ capability: "identity", reason: "a key may read only its own rows" }],
  },
  create(_config, host) {
    const inTurn = createTurns(host);
    return {
      async run({ exchange }) {
        const name = exchange.client.path.slice(exchange.client.path.lastIndexOf("/") + 1);
        const report = Object.hasOwn(REPORTS, name) ? REPORTS[name] : undefined;
        if (report === undefined)
          throw new GatewayError(
            "route_not_found",
            "The path names no spend report. Use /spend/logs, /spend/tags, /spend/report or /spend/calculate.",
          );
        const make = (): Promise<Reply> => report(exchange, host);
        // A calculation reads no rows, so it needs no scope.
        exchange.reply = await (name === "calculate" ? make() : inTurn(exchange, make));
      },
    };
  },
});
