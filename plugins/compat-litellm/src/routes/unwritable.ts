/**
 * LiteLLM's routes that write what files hold here. They answer 501 and name the file, so that a
 * script stops at the first of them.
 */

import type { EdgeAnswer, ExtensionRoute } from "@sluice/contract";

type Method = ExtensionRoute["method"];
type Route = Omit<ExtensionRoute, "listener">;

const MODELS =
  "Models stand in gateway.yaml, section `models`: edit the file and run `sluice reload`.";
const CREDENTIALS =
  "Credentials stand in gateway.yaml, section `providers`, as references: `api_key: ${env:NAME}`.";
const FALLBACKS =
  "Fallbacks stand in gateway.yaml, member `fallbacks` of an entry of `models`: edit the file and run `sluice reload`.";
const GUARDRAILS =
  "Guardrails stand in gateway.yaml, section `guardrails`, and in the step `guardrails` of a pipeline file.";
const SETTINGS = "Settings stand in gateway.yaml: edit the file and run `sluice reload`.";
const NATIVE =
  "Native paths of a provider are under its name; `endpoints` of its entry in gateway.yaml, section `providers`, opens them.";
const SPEND =
  "Spend rows are never changed. Raise `max_budget`, or set another `budget_duration`, with the update route.";
const TAGS =
  "Tags need no record: requests, keys and teams name them. Budgets of tags stand in the step `limits` of a pipeline file.";
const none = (what: string): string =>
  `This gateway has no ${what}. What it serves stands in gateway.yaml and in the pipeline files.`;

const TABLE: readonly (readonly [
  methods: readonly Method[],
  paths: readonly string[],
  says: string,
])[] = [
  [
    ["POST"],
    [
      "/model/new",
      "/model/update",
      "/model/delete",
      "/model/block",
      "/model/unblock",
      "/model_group/make_public",
    ],
    MODELS,
  ],
  [["PATCH"], ["/model/{id...}/update"], MODELS],
  [["GET", "POST"], ["/credentials"], CREDENTIALS],
  [["GET"], ["/credentials/by_name/{name...}", "/credentials/by_model/{id...}"], CREDENTIALS],
  [["PATCH", "DELETE"], ["/credentials/{name...}"], CREDENTIALS],
  [["POST"], ["/fallback"], FALLBACKS],
  [["GET", "DELETE"], ["/fallback/{model...}"], FALLBACKS],
  [
    ["POST"],
    ["/config/update", "/config/field/update", "/config/field/delete", "/config/callback/delete"],
    SETTINGS,
  ],
  [["GET", "POST", "DELETE"], ["/config/pass_through_endpoint"], NATIVE],
  [["GET", "POST"], ["/guardrails", "/guardrails/list"], GUARDRAILS],
  [["GET", "PUT", "PATCH", "DELETE"], ["/guardrails/{id...}"], GUARDRAILS],
  [["GET", "POST", "PUT"], ["/v1/mcp/server"], none("MCP servers")],
  [["GET", "DELETE"], ["/v1/mcp/server/{id...}"], none("MCP servers")],
  [["POST"], ["/project/new", "/project/update"], none("projects: use teams and tags")],
  [["GET"], ["/project/info", "/project/list"], none("projects: use teams and tags")],
  [["DELETE"], ["/project/delete"], none("projects: use teams and tags")],
  [["GET", "POST"], ["/prompts", "/prompts/list"], none("stored prompts")],
  [["GET", "PUT", "PATCH", "DELETE"], ["/prompts/{id...}"], none("stored prompts")],
  [["GET", "POST"], ["/v1/agents"], none("agent registry")],
  [["GET", "PUT", "PATCH", "DELETE"], ["/v1/agents/{id...}"], none("agent registry")],
  [["GET", "POST"], ["/search_tools", "/search_tools/list"], none("search tools")],
  [["GET", "PUT", "DELETE"], ["/search_tools/{id...}"], none("search tools")],
  [
    ["POST"],
    ["/vector_store/new", "/vector_store/update", "/vector_store/info", "/vector_store/delete"],
    none("vector stores"),
  ],
  [["GET"], ["/vector_store/list"], none("vector stores")],
  [["POST"], ["/tag/new", "/tag/update", "/tag/delete", "/tag/info"], TAGS],
  [
    ["POST"],
    ["/global/spend/reset", "/key/{key}/reset_spend", "/team/{team}/member/{user}/reset_spend"],
    SPEND,
  ],
];

/** The routes, without their listener. */
export const UNWRITABLE_ROUTES: readonly Route[] = TABLE.flatMap(([methods, paths, says]) =>
  methods.flatMap((method) =>
    paths.map((path): Route => ({
      method,
      path,
      access: "key",
      body: "none",
      handler: () => notImplemented(says),
    })),
  ),
);

/** The answer 501. */
export function notImplemented(message: string): EdgeAnswer {
  const error = { message, type: "not_implemented_error", code: 501, param: null };
  return { status: 501, body: { error } };
}
