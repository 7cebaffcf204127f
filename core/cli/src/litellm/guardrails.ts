/** Guardrails: those of LiteLLM's that a plugin of ours does the work of, and where they run. */

import { credentialOf, referenceOf } from "./references.ts";
import {
  type ImportSource,
  itemsOf,
  type Members,
  membersOf,
  type SourcePath,
  textOf,
} from "./source.ts";

/** A guardrail of ours. */
export interface ImportedGuardrail {
  readonly name: string;
  readonly package: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether every request, every reply passes it, without being asked for. */
  readonly input: boolean;
  readonly output: boolean;
}

/** Presidio's entities, the names of prebuilt patterns, and ours. */
const ENTITIES: Readonly<Record<string, string>> = {
  EMAIL_ADDRESS: "email",
  PHONE_NUMBER: "phone",
  CREDIT_CARD: "card",
  IBAN_CODE: "iban",
  IP_ADDRESS: "ip",
  US_SSN: "us_ssn",
  ES_NIF: "es_dni",
  ES_NIE: "es_dni",
  IT_FISCAL_CODE: "it_codice_fiscale",
  UK_NINO: "uk_nino",
  PL_PESEL: "pl_pesel",
  email: "email",
  us_phone: "phone",
  credit_card: "card",
  visa: "card",
  mastercard: "card",
  amex: "card",
  discover: "card",
  us_ssn: "us_ssn",
  us_ssn_no_dash: "us_ssn",
  ipv4: "ip",
  ipv6: "ip",
  iban: "iban",
};

/** Prebuilt patterns that the plugin secrets knows. */
const SECRETS: Readonly<Record<string, string>> = {
  aws_access_key: "aws",
  aws_secret_key: "assignment",
  github_token: "github",
  slack_token: "slack",
  generic_api_key: "assignment",
};

interface Made {
  readonly package: string;
  readonly options: Record<string, unknown>;
}

/** Reads `guardrails`. */
export function importGuardrails(source: ImportSource): ImportedGuardrail[] {
  const made: ImportedGuardrail[] = [];
  itemsOf(source.value["guardrails"]).forEach((entry, index) => {
    const { guardrail_name: named, litellm_params: own } = membersOf(entry);
    const params = membersOf(own);
    const path = ["guardrails", index, "litellm_params"];
    const kind = textOf(params["guardrail"]) ?? "";
    const guards = guardedPlaces(params, source, [...path, "mode"]);
    if (guards.length === 0) return;
    const isOn = params["default_on"] === true;
    const before = guards.includes("pre_call") || guards.includes("during_call");
    const results = guardrailOf(kind, params, source, path);
    if (results.length === 0) {
      source.note(
        "missing",
        [...path, "guardrail"],
        `no plugin does what ${kind || "it"} does; a service with one endpoint can: docs/guardrail-http.md`,
      );
    }
    for (const result of results) {
      const name = freeName(textOf(named) ?? kind, result.package, results.length > 1, made);
      made.push({
        name,
        ...result,
        input: isOn && before,
        output: isOn && guards.includes("post_call"),
      });
    }
    if (!isOn && results.length > 0) {
      source.note(
        "changed",
        path,
        "without default_on it runs for requests, keys and teams that name it, on requests and replies alike",
      );
    }
  });
  return made;
}

/** The modes of an entry that have an equivalent here. Empty: it judges nothing. */
function guardedPlaces(params: Members, source: ImportSource, path: SourcePath): unknown[] {
  const modes = typeof params["mode"] === "string" ? [params["mode"]] : itemsOf(params["mode"]);
  if (modes.length === 0) {
    source.note("changed", path, "modes by tags are not known; it judges requests and replies");
    return ["pre_call", "post_call"];
  }
  const isUnknown = (mode: unknown): boolean =>
    mode === "logging_only" || String(mode).includes("mcp");
  for (const mode of modes) {
    if (mode === "during_call")
      source.note("changed", path, "it judges before the call: a refused request is not billed");
    if (isUnknown(mode))
      source.note(
        "missing",
        path,
        `${String(mode)} has no equivalent; no text of a request is logged`,
      );
  }
  return modes.filter((mode) => !isUnknown(mode));
}

function guardrailOf(
  kind: string,
  params: Members,
  source: ImportSource,
  path: SourcePath,
): Made[] {
  switch (kind) {
    case "presidio":
      return [presidio(params, source, path)];
    case "hide-secrets":
      return [{ package: "secrets", options: { use: "secrets", action: "mask" } }];
    case "litellm_content_filter":
      return contentFilter(params, source, path);
    case "openai_moderation":
      return [moderation(params, source, path)];
    case "generic_guardrail_api":
      return service(params, source, path);
    default:
      return [];
  }
}

function moderation(params: Members, source: ImportSource, path: SourcePath): Made {
  const place = [...path, "api_key"];
  return {
    package: "moderation",
    options: {
      use: "moderation",
      api_key: credentialOf(params["api_key"], "OPENAI_API_KEY", source, place),
      ...(textOf(params["model"]) === undefined ? {} : { model: params["model"] }),
      budget_ms: 3_000,
    },
  };
}

/** A service of LiteLLM's own form. Without an address there is none. */
function service(params: Members, source: ImportSource, path: SourcePath): Made[] {
  const address = referenceOf(params["api_base"]);
  if (address === undefined) return [];
  source.note(
    "todo",
    path,
    "write a text that the service must deny into `sample`: it is asked at every load",
  );
  const place = [...path, "api_key"];
  const options = {
    use: "http",
    dialect: "litellm",
    url: address.replace(/\/beta\/litellm_basic_guardrail_api\/?$/, ""),
    ...(params["api_key"] !== undefined && {
      api_key: credentialOf(params["api_key"], "GUARDRAIL_API_KEY", source, place),
    }),
    sample: "a text that must be denied",
  };
  return [{ package: "http", options }];
}

function presidio(params: Members, source: ImportSource, path: SourcePath): Made {
  const actions: Record<string, string> = {};
  for (const [entity, action] of Object.entries(membersOf(params["pii_entities_config"]))) {
    const own = ENTITIES[entity];
    if (own === undefined)
      source.note(
        "missing",
        [...path, "pii_entities_config", entity],
        "pii does not look for it; `names` finds names of a list",
      );
    else
      actions[own] =
        action === "BLOCK" ? "block" : params["output_parse_pii"] === true ? "restore" : "mask";
  }
  source.note(
    "changed",
    [...path, "guardrail"],
    "pii goes by forms and check digits, without a model of language: it finds no places and no dates",
  );
  return piiOf(actions, params["output_parse_pii"] === true ? "restore" : "mask");
}

/**
 * The guardrail pii for some entities, each with its action. Without entities it seeks them all.
 */
function piiOf(actions: Readonly<Record<string, string>>, action: string): Made {
  const entities = Object.keys(actions);
  const differing = Object.entries(actions).filter(([, own]) => own !== action);
  return {
    package: "pii",
    options: {
      use: "pii",
      action,
      ...(entities.length === 0 ? {} : { entities }),
      ...(differing.length === 0 ? {} : { actions: Object.fromEntries(differing) }),
    },
  };
}

/** Words and patterns of one filter become up to three guardrails. */
function contentFilter(params: Members, source: ImportSource, path: SourcePath): Made[] {
  const made: Made[] = [];
  const actions: Record<string, string> = {};
  const rules = new Map<string, string>();
  const lists: Record<string, unknown>[] = [];
  itemsOf(params["patterns"]).forEach((entry, index) => {
    const { pattern_name: name, pattern, action } = membersOf(entry);
    const prebuilt = textOf(name) ?? "";
    const own = ENTITIES[prebuilt];
    if (textOf(pattern) !== undefined)
      lists.push({
        name: slug(prebuilt || `pattern-${index}`),
        patterns: [pattern],
        action: actionOf(action),
      });
    else if (own !== undefined) actions[own] = actionOf(action);
    else if (SECRETS[prebuilt] !== undefined) rules.set(SECRETS[prebuilt] ?? "", actionOf(action));
    else source.note("missing", [...path, "patterns", index], `no guardrail looks for ${prebuilt}`);
  });
  const words = Map.groupBy(itemsOf(params["blocked_words"]).map(membersOf), ({ action }) =>
    actionOf(action),
  );
  for (const [action, entries] of words) {
    lists.push({
      name: `words-${action}`,
      words: entries.map(({ keyword }) => textOf(keyword)).filter((word) => word !== undefined),
      action,
    });
  }
  const file = textOf(params["blocked_words_file"]);
  if (file !== undefined)
    source.note(
      "todo",
      [...path, "blocked_words_file"],
      `copy its words, one a line, and name the file as \${file:…} in \`words\` (${file})`,
    );
  if (params["categories"] !== undefined)
    source.note(
      "missing",
      [...path, "categories"],
      "there are no packs of words by category; the guardrail moderation judges meaning",
    );
  if (Object.keys(actions).length > 0) made.push(piiOf(actions, "mask"));
  // One action holds for all rules: what was to be blocked stays blocked.
  const action = [...rules.values()].includes("block") ? "block" : "mask";
  if (rules.size > 0)
    made.push({
      package: "secrets",
      options: { use: "secrets", rules: [...rules.keys()], action },
    });
  if (lists.length > 0) made.push({ package: "words", options: { use: "words", lists } });
  return made;
}

function actionOf(action: unknown): string {
  return action === "MASK" ? "mask" : "block";
}

function freeName(
  wanted: string,
  kind: string,
  isOneOfMany: boolean,
  made: readonly ImportedGuardrail[],
): string {
  const base = slug(isOneOfMany ? `${wanted}-${kind}` : wanted);
  const taken = (name: string): boolean => made.some((other) => other.name === name);
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    if (!taken(name)) return name;
  }
}

function slug(text: string): string {
  const cleaned = text
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 60);
  return cleaned === "" ? "guardrail" : cleaned;
}
