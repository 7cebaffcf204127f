/** Query parameters and bodies of the routes that take them, by path. Data. */

import { type JsonObject, type JsonSchema, SPEND_DIMENSIONS } from "@sluice/contract";
import { bodySchema } from "../ingress/body-fields.ts";
import { SPEND_BODY } from "../ingress/spend.ts";

const query = (name: string, description: string, schema: JsonSchema): JsonObject => ({
  name,
  in: "query",
  description,
  schema,
});
const flag = (name: string, description: string): JsonObject =>
  query(name, description, { type: "boolean" });
const text = (name: string, description: string): JsonObject =>
  query(name, description, { type: "string" });

const MODEL_LIST: readonly JsonObject[] = [
  flag("return_wildcard_routes", "Adds the ids of wildcards, such as `openai/*`."),
  text("team_id", "The models of a team; the caller must belong to it."),
  flag("include_model_access_groups", "Adds the names of access groups."),
  flag("only_model_access_groups", "Lists the names of access groups, and no model."),
  flag(
    "include_metadata",
    "Adds `metadata` with fallbacks, mode, access groups, pricing and context window.",
  ),
  query("fallback_type", "With `include_metadata=true`: which fallbacks.", {
    type: "string",
    enum: ["general", "context_window", "content_policy"],
  }),
];

const DATES: readonly JsonObject[] = [
  text("start_date", "First day (UTC), `YYYY-MM-DD`, or a full timestamp. Inclusive."),
  text("end_date", "Last day (UTC), `YYYY-MM-DD`, or a full timestamp. Inclusive."),
];

const choice = (name: string, description: string, values: readonly string[]): JsonObject =>
  query(name, description, { type: "string", enum: values, default: values[0] ?? "" });

const REPORT: readonly JsonObject[] = [
  text("group_by", `One or two of ${SPEND_DIMENSIONS.join(", ")}, with a comma between them.`),
  choice("bucket", "The spans of time that are distinguished, in UTC.", ["none", "hour", "day"]),
  text("from", "First day (UTC), `YYYY-MM-DD`, or a whole hour. Inclusive."),
  text("to", "Last day (UTC), inclusive; or the whole hour at which the report ends."),
  text("organization_id", "Rows of one organization."),
  text("team_id", "Rows of one team."),
  text("user_id", "Rows of one user."),
  text("api_key", "Rows of one key: the key's id, or the key."),
  text("tag", "Rows with one tag."),
  text("model", "Rows of one model."),
  text("provider", "Rows of one provider instance."),
  text("end_user", "Rows of one customer."),
  choice("order", "By time and ids, or the highest spend first, without pages.", ["time", "spend"]),
  query("limit", "Groups at most.", { type: "integer", minimum: 1, maximum: 1000, default: 1000 }),
  text("cursor", "Where the page begins: `next_cursor` of the page before."),
  choice("format", "The form of the answer.", ["json", "csv"]),
];

const ITEMS: readonly JsonObject[] = [
  query("limit", "Items at most.", { type: "integer", minimum: 1, maximum: 100, default: 20 }),
  choice("order", "The latest item first, or the earliest.", ["desc", "asc"]),
  text("after", "The id of the item behind which the page begins."),
  text("before", "The id of the item before which the page ends."),
];

const EVENTS: readonly JsonObject[] = [
  flag("stream", "The events of a response in the background in place of the response."),
  query("starting_after", "With `stream=true`: the `sequence_number` of the last known event.", {
    type: "integer",
    minimum: -1,
    default: -1,
  }),
];

/** Query parameters by path, or by method and path. */
export const QUERIES: Readonly<Record<string, readonly JsonObject[]>> = {
  "/v1/models": MODEL_LIST,
  "/models": MODEL_LIST,
  "/spend/logs": [
    text("request_id", "Rows of one request, by its id or by the id of its completion."),
    text("api_key", "Rows of one key: the key's id, or the key."),
    text("user_id", "Rows of one user."),
    ...DATES,
    flag("summarize", "With both dates: spend by day (the default), or single rows."),
    query("limit", "Rows at most.", { type: "integer", minimum: 1, maximum: 1000, default: 1000 }),
    text("cursor", "Where the page begins: what `x-sluice-next-cursor` said on the page before."),
  ],
  "GET /v1/responses/{response_id}": EVENTS,
  "GET /responses/{response_id}": EVENTS,
  "/v1/responses/{response_id}/input_items": ITEMS,
  "/responses/{response_id}/input_items": ITEMS,
  "/spend/report": REPORT,
  "/spend/tags": [
    ...DATES,
    query("limit", "Tags at most, those with the highest spend.", {
      type: "integer",
      minimum: 1,
      maximum: 1000,
      default: 1000,
    }),
  ],
};

/** Bodies of routes whose operation has none of its own, by path. */
export const BODIES: Readonly<Record<string, JsonSchema>> = {
  "/spend/calculate": bodySchema(
    SPEND_BODY,
    "Either `model` and `messages`, or `completion_response`.",
  ),
};
