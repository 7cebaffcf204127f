/** The step `spend`: the spend rows of a key. */

import { defineStep, jsonReply } from "@sluice/kit";
import { type Exchange, GatewayError, type Identity, type JsonValue, type LedgerQuery, type LedgerReader } from "@sluice/spec";
import { publicRow } from "./spend-row.ts";

const MAX_ROWS = 1_000;
const PARAMETERS = new Set(["request_id", "api_key", "user_id", "limit", "cursor"]);

export const spend = defineStep<Record<string, never>>({
  name: "spend",
  stability: "beta",
  summary: "Answers with spend rows: a key's own, or all of them for the master key. Ends the pipeline.",
  config: { type: "object", properties: {} },
  operations: ["spend"],
  terminal: true,
  requires: [{ capability: "identity", reason: "a key may see its own rows only" }],
  create: (_config, { ledger }) => ({
    async run({ exchange }) {
      exchange.reply = jsonReply(await readRows(exchange, ledger));
    },
  }),
});

async function readRows(exchange: Exchange, ledger: LedgerReader): Promise<JsonValue> {
  const query = new URLSearchParams(exchange.client.query);
  for (const name of query.keys()) {
    if (!PARAMETERS.has(name))
      throw new GatewayError("invalid_field", `The query parameter ${name} is not known here.`, { param: name });
  }
  const { identity } = exchange;
  if (identity === undefined) throw new GatewayError("permission_denied", "Only a key can read spend rows.");
  const rows = await ledger.rows(ledgerQuery(query, identity));
  return rows.map(publicRow);
}

/** The question to the ledger. A virtual key sees its own rows; a filter only narrows. */
function ledgerQuery(query: URLSearchParams, identity: Identity): LedgerQuery {
  const asked = query.get("api_key") ?? undefined;
  if (identity.kind === "key" && asked !== undefined && asked !== identity.keyId) {
    throw new GatewayError("permission_denied", "A key may read its own spend rows only.", { param: "api_key" });
  }
  const keyId = identity.kind === "key" ? identity.keyId : asked;
  return {
    limit: limitOf(query.get("limit")),
    ...optional("requestId", query.get("request_id")),
    ...optional("userId", query.get("user_id")),
    ...optional("keyId", keyId ?? null),
    ...optional("before", query.get("cursor")),
  };
}

function limitOf(text: string | null): number {
  if (text === null) return MAX_ROWS;
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ROWS) {
    throw new GatewayError("invalid_field", `The query parameter limit must be a whole number from 1 to ${MAX_ROWS}.`, {
      param: "limit",
    });
  }
  return limit;
}

function optional<K extends string>(name: K, value: string | null): { [key in K]?: string } {
  return (value === null ? {} : { [name]: value }) as { [key in K]?: string };
}
