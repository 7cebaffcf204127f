/** The step `spend`: spend reports, and calculations of a cost. */

import { defineStep } from "@sluice/kit";
import { type Exchange, GatewayError, type Host, type WholeReply } from "@sluice/contract";
import { calculateSpend } from "./calculate.ts";
import { spendLogs } from "./logs.ts";
import { spendTags } from "./tags.ts";
import { createTurns } from "./turns.ts";

/** Reports by the last segment of the path: `/spend/logs` is `logs`. */
const REPORTS: Readonly<Record<string, (exchange: Exchange, host: Host) => Promise<WholeReply>>> = {
  logs: spendLogs,
  tags: spendTags,
  calculate: calculateSpend,
};

export const spend = defineStep<Record<string, never>>({
  name: "spend",
  stability: "beta",
  summary:
    "Answers with spend rows, their sums by day or by tag, or the cost of a request: by the path's last segment, `logs`, `tags` or `calculate`. Ends the pipeline.",
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
            "The path names no spend report. Use /spend/logs, /spend/tags or /spend/calculate.",
          );
        const make = (): Promise<WholeReply> => report(exchange, host);
        // A calculation reads no rows, so it needs no scope.
        exchange.reply = await (name === "calculate" ? make() : inTurn(exchange, make));
      },
    };
  },
});
