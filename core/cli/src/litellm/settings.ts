/**
 * Settings: `litellm_settings`, `router_settings` and `general_settings` as options of steps, of
 * the server and of models.
 */

import type { ImportedModel } from "./models.ts";
import { importFallbacks } from "./fallbacks.ts";
import { GENERAL, LITELLM, ROUTER } from "./settings-table.ts";
import { type ImportSource, membersOf, numberOf, textOf } from "./source.ts";

/** What settings come to. */
export interface ImportedSettings {
  readonly server: Record<string, unknown>;
  /** Options of steps, by the step's name. */
  readonly steps: Readonly<
    Record<"limits" | "cache" | "fallback" | "balance" | "retry", Record<string, unknown>>
  >;
  deadline: string;
}

/** As the shipped pipelines have it. */
const DEADLINE_SECONDS = 600;

const STRATEGIES: Readonly<Record<string, string>> = {
  "simple-shuffle": "weighted",
  "least-busy": "least_busy",
  "latency-based-routing": "lowest_latency",
  "cost-based-routing": "lowest_cost",
  "usage-based-routing": "least_busy",
  "usage-based-routing-v2": "least_busy",
};

/** Whether parameters that a provider cannot honour are dropped everywhere. */
export function dropsParams({ value }: ImportSource): boolean {
  return membersOf(value["litellm_settings"])["drop_params"] === true;
}

/** Reads the settings, and writes fallbacks and aliases into the models. */
export function importSettings(source: ImportSource, models: ImportedModel[]): ImportedSettings {
  const { value } = source;
  const litellm = membersOf(value["litellm_settings"]);
  const router = membersOf(value["router_settings"]);
  const general = membersOf(value["general_settings"]);
  const settings: ImportedSettings = {
    server: {},
    steps: { limits: {}, cache: {}, fallback: {}, balance: {}, retry: {} },
    deadline: `${DEADLINE_SECONDS}s`,
  };
  addAliases(source, models);
  importFallbacks(source, models);
  retries(source, settings);
  // A try that may take longer than that must not end with the request's deadline.
  const longestTry = Math.max(
    numberOf(litellm["request_timeout"]) ?? 0,
    numberOf(router["timeout"]) ?? 0,
  );
  if (longestTry > DEADLINE_SECONDS) settings.deadline = `${Math.ceil(longestTry)}s`;
  routing(source, settings);
  caching(source, settings);
  limits(source, settings);
  const header = textOf(general["litellm_key_header_name"]);
  if (header !== undefined) settings.server["auth_headers"] = [header];
  const megabytes = numberOf(general["max_request_size_mb"]);
  if (megabytes !== undefined) settings.server["max_body"] = `${Math.ceil(megabytes)}mb`;
  for (const [section, table] of Object.entries({
    litellm_settings: LITELLM,
    router_settings: ROUTER,
    general_settings: GENERAL,
  })) {
    for (const member of Object.keys(membersOf(value[section]))) {
      const note = table[member];
      if (note === undefined) source.note("missing", [section, member], "nothing here is like it");
      else if (note !== "read") source.note(note.kind, [section, member], note.why);
    }
  }
  return settings;
}

function addAliases(source: ImportSource, models: ImportedModel[]): void {
  for (const section of ["router_settings", "litellm_settings"]) {
    const member = section === "router_settings" ? "model_group_alias" : "model_alias_map";
    for (const [alias, target] of Object.entries(
      membersOf(membersOf(source.value[section])[member]),
    )) {
      const id = textOf(target) ?? textOf(membersOf(target)["model"]);
      const model = models.find((other) => other.id === id);
      const path = [section, member, alias];
      if (model === undefined)
        source.note(
          "missing",
          path,
          `it stands for ${id ?? "nothing"}, which is no model of the list`,
        );
      else if (models.some((other) => other.id === alias))
        source.note("missing", path, "there is a model of that name");
      else
        models.push({
          ...model,
          id: alias,
          targets: model.targets.map((entry) => ({ ...entry })),
          line: source.lineOf(path),
        });
      if (membersOf(target)["hidden"] === true)
        source.note("changed", path, "every model that a key may use is listed");
    }
  }
}

function retries({ value }: ImportSource, { steps }: ImportedSettings): void {
  const litellm = membersOf(value["litellm_settings"]);
  const router = membersOf(value["router_settings"]);
  const count = numberOf(router["num_retries"]) ?? numberOf(litellm["num_retries"]) ?? 2;
  const attempts = Math.min(10, Math.max(0, Math.round(count)) + 1);
  const others = Math.min(10, Math.max(0, Math.round(numberOf(router["max_fallbacks"]) ?? 5)));
  steps.retry["attempts"] = attempts;
  steps.fallback["max"] = others;
  steps.fallback["max_attempts"] = Math.min(30, Math.max(1, attempts + others));
  const after = numberOf(router["retry_after"]);
  if (after !== undefined && after > 0) steps.retry["base"] = `${after}s`;
}

function routing(source: ImportSource, { steps }: ImportedSettings): void {
  const router = membersOf(source.value["router_settings"]);
  const litellm = membersOf(source.value["litellm_settings"]);
  const named = textOf(router["routing_strategy"]);
  if (named !== undefined) {
    const strategy = STRATEGIES[named];
    const path = ["router_settings", "routing_strategy"];
    if (strategy === undefined)
      source.note("missing", path, `no strategy is like ${named}; weights decide`);
    else {
      steps.balance["strategy"] = strategy;
      if (named.startsWith("usage"))
        source.note(
          "changed",
          path,
          "least_busy goes by requests under way, not by tokens of this minute",
        );
    }
  }
  const breaker: Record<string, unknown> = {};
  const fails = numberOf(router["allowed_fails"]) ?? numberOf(litellm["allowed_fails"]);
  const cooldown = numberOf(router["cooldown_time"]) ?? numberOf(litellm["cooldown_time"]);
  if (fails !== undefined) breaker["consecutive"] = Math.max(1, Math.round(fails) + 1);
  if (cooldown !== undefined && cooldown > 0) {
    breaker["ejection"] = `${cooldown}s`;
    breaker["max_ejection"] = `${Math.max(cooldown, 30)}s`;
    breaker["ejection_with_fallback"] = `${cooldown}s`;
  }
  if (Object.keys(breaker).length > 0) steps.balance["breaker"] = breaker;
}

function caching(source: ImportSource, { steps }: ImportedSettings): void {
  const litellm = membersOf(source.value["litellm_settings"]);
  const params = membersOf(litellm["cache_params"]);
  if (litellm["cache"] !== true) return;
  const type = textOf(params["type"]) ?? "local";
  const ttl = numberOf(params["ttl"]) ?? (type === "local" ? 600 : 60);
  steps.cache["mode"] = params["mode"] === "default_off" ? "on_request" : "always";
  steps.cache["ttl"] = `${ttl}s`;
  // There the cache is shared by all keys.
  steps.cache["scope"] = "global";
  source.note(
    "changed",
    ["litellm_settings", "cache"],
    "`scope: global` shares replies between keys, as there; `scope: key` does not",
  );
  const path = ["litellm_settings", "cache_params", "type"];
  if (type === "redis")
    source.note(
      "todo",
      path,
      "replies are kept in this process; for Redis uncomment `shared` in gateway.yaml and export REDIS_URL",
    );
  else if (type !== "local")
    source.note("missing", path, `no cache is like ${type}; replies are kept in this process`);
  const known = new Set([
    "type",
    "ttl",
    "mode",
    "host",
    "port",
    "password",
    "url",
    "ssl",
    "namespace",
  ]);
  for (const member of Object.keys(params)) {
    if (!known.has(member))
      source.note(
        "missing",
        ["litellm_settings", "cache_params", member],
        "the cache has no such option",
      );
  }
}

function limits(source: ImportSource, { steps }: ImportedSettings): void {
  const litellm = membersOf(source.value["litellm_settings"]);
  const general = membersOf(source.value["general_settings"]);
  const dollars = numberOf(litellm["max_budget"]);
  const duration = textOf(litellm["budget_duration"]);
  if (dollars !== undefined) {
    const isKnown = duration === undefined || /^[1-9][0-9]{0,3}(s|m|h|d|w|mo)$/.test(duration);
    if (!isKnown)
      source.note(
        "changed",
        ["litellm_settings", "budget_duration"],
        "it is no span that is known here; the budget is for ever",
      );
    steps.limits["budgets"] = [
      { per: "global", max: dollars, ...(duration === undefined || !isKnown ? {} : { duration }) },
    ];
  }
  const parallel = [
    { per: "global", requests: numberOf(general["global_max_parallel_requests"]) },
    { per: "key", requests: numberOf(general["max_parallel_requests"]) },
  ].filter(({ requests }) => requests !== undefined && requests > 0);
  if (parallel.length > 0) steps.limits["parallel"] = parallel;
}
