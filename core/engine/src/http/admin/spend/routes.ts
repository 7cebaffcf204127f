/**
 * Admin routes of spend: reports, which are the sums of the rows at the caller's places, and the
 * comparison of budgets with the rows.
 */

import {
  BUDGET_BOOK_KEY,
  type BudgetBook,
  GatewayError,
  isGatewayError,
  type LedgerReader,
  type SpendReportQuery,
} from "@sluice/contract";
import { makeSpendReport, readSpendReport } from "@sluice/runtime";
import type { Visible } from "../../access/may.ts";
import type { SharedPool } from "../../../resources/shared-pool.ts";
import { makeSummary, readSummary } from "./summary.ts";
import { type AdminRoutes, atWhole, listed, TextAnswer } from "../../access/route.ts";

const READ_TIMEOUT_MS = 10_000;

/** The routes. `keyIdOf` finds the id of a key by its id, its alias or itself. */
export function spendRoutes(
  ledger: Pick<LedgerReader, "report">,
  keyIdOf: (key: string) => Promise<string>,
): AdminRoutes {
  const narrowed = async (query: SpendReportQuery, visible: Visible): Promise<SpendReportQuery> => {
    const { key } = query.filter;
    const filter =
      key === undefined ? query.filter : { ...query.filter, key: await idOf(key, keyIdOf) };
    return { ...query, filter, ...withinOf(visible) };
  };
  return {
    "GET /spend/summary": listed("spend.read", async (request, visible) => {
      const { times, groups, before } = readSummary(request.query);
      const { filter, within } = await narrowed(groups, visible);
      const bounds = { filter, ...(within !== undefined && { within }) };
      return makeSummary(
        {
          times: { ...times, ...bounds },
          groups: { ...groups, ...bounds },
          before: { ...before, ...bounds },
        },
        ledger,
        AbortSignal.timeout(READ_TIMEOUT_MS),
      );
    }),
    "GET /spend/report": listed("spend.read", async (request, visible) => {
      const { query, format } = readSpendReport(request.query);
      const asked = { query: await narrowed(query, visible), format };
      const report = await makeSpendReport(asked, ledger, AbortSignal.timeout(READ_TIMEOUT_MS));
      return new TextAnswer(report.type, report.text, {
        ...(report.next !== undefined && { "x-sluice-next-cursor": report.next }),
      });
    }),
  };
}

/** What is compared with the rows. */
export interface BudgetParts {
  readonly shared: Pick<SharedPool, "find">;
  /** Whether shared state cannot be reached; `undefined` where it is in memory. */
  readonly isStateAway: () => boolean | undefined;
}

/** Up to 2,000 budgets, each with a read of the ledger, twice. */
const VERIFY_TIMEOUT_MS = 60_000;

/** The route that compares the budgets of recent requests with the rows. */
export function budgetRoutes({ shared, isStateAway }: BudgetParts): AdminRoutes {
  return {
    "GET /spend/budgets/verify": atWhole("spend.read", async () => {
      if (isStateAway() === true)
        throw new GatewayError(
          "overloaded",
          "The shared state does not answer: budgets are compared when it does.",
          { retryAfterMs: 1_000 },
        );
      const book = shared.find(BUDGET_BOOK_KEY) as BudgetBook | undefined;
      const check = await book?.verify(AbortSignal.timeout(VERIFY_TIMEOUT_MS));
      const { checked = 0, differences = [] } = check ?? {};
      return {
        checked,
        differences: differences.map((one) => ({
          budget: one.key,
          subject: one.subject,
          spent_nano_usd: one.spentNanoUsd,
          reserved_nano_usd: one.reservedNanoUsd,
          rows_nano_usd: one.rowsNanoUsd,
          lacks_rows: one.isMissing,
        })),
      };
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
