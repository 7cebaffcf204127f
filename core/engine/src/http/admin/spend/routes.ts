/** Admin route of spend reports: the sums of the rows at the caller's places. */

import { isGatewayError, type LedgerReader, type SpendReportQuery } from "@sluice/contract";
import { makeSpendReport, readSpendReport } from "@sluice/runtime";
import type { Visible } from "../../access/may.ts";
import { type AdminRoutes, listed, TextAnswer } from "../../access/route.ts";

const READ_TIMEOUT_MS = 10_000;

/** The route. `keyIdOf` finds the id of a key by its id, its alias or itself. */
export function spendRoutes(
  ledger: Pick<LedgerReader, "report">,
  keyIdOf: (key: string) => Promise<string>,
): AdminRoutes {
  return {
    "GET /spend/report": listed("spend.read", async (request, visible) => {
      const { query, format } = readSpendReport(request.query);
      const { key } = query.filter;
      const filter =
        key === undefined ? query.filter : { ...query.filter, key: await idOf(key, keyIdOf) };
      const asked = { query: { ...query, filter, ...withinOf(visible) }, format };
      const report = await makeSpendReport(asked, ledger, AbortSignal.timeout(READ_TIMEOUT_MS));
      return new TextAnswer(report.type, report.text, {
        ...(report.next !== undefined && { "x-sluice-next-cursor": report.next }),
      });
    }),
  };
}

/** A key that was deleted has rows: what names no key is taken as an id. */
async function idOf(key: string, keyIdOf: (key: string) => Promise<string>): Promise<string> {
  try {
    return await keyIdOf(key);
  } catch (error) {
    if (isGatewayError(error) && error.code === "not_found") return key;
    throw error;
  }
}

function withinOf(visible: Visible): Pick<SpendReportQuery, "within"> {
  if (visible === "all") return {};
  const { organizations, teams, users } = visible;
  return {
    within: [
      ...organizations.map((organization) => ({ organization })),
      ...teams.map((team) => ({ team })),
      ...users.map((user) => ({ user })),
    ],
  };
}
