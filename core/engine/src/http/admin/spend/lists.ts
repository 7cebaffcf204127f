/** `GET /spend/logs` and `GET /spend/tags`: rows and tags, as the public listener lists them. */

import type { LedgerReader } from "@sluice/contract";
import { makeSpendLogs, makeSpendTags, readSpendLogs, readSpendTags } from "@sluice/runtime";
import { type AdminRoutes, atWhole, TextAnswer } from "../../access/route.ts";

const READ_TIMEOUT_MS = 10_000;
const TYPE = "application/json; charset=utf-8";

/** The routes. `keyIdOf` finds the id of a key by its id, its alias or itself. */
export function spendListRoutes(
  ledger: Pick<LedgerReader, "rows" | "days" | "tags">,
  keyIdOf: (key: string) => Promise<string>,
): AdminRoutes {
  return {
    "GET /spend/logs": atWhole("spend.read", async ({ query }) => {
      const asked = readSpendLogs(query);
      const { keyId } = asked.filter;
      const filter =
        keyId === undefined ? asked.filter : { ...asked.filter, keyId: await keyIdOf(keyId) };
      const { text, next } = await makeSpendLogs(
        { ...asked, filter },
        ledger,
        AbortSignal.timeout(READ_TIMEOUT_MS),
      );
      return new TextAnswer(TYPE, text, {
        ...(next !== undefined && { "x-sluice-next-cursor": next }),
      });
    }),
    "GET /spend/tags": atWhole("spend.read", async ({ query }) => {
      const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
      return new TextAnswer(TYPE, await makeSpendTags(readSpendTags(query), {}, ledger, signal));
    }),
  };
}
