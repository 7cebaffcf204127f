/** Models: entries of `model_list` with one name become one model with several targets. */

import type { ImportedProviders } from "./providers.ts";
import {
  type ImportSource,
  itemsOf,
  type Members,
  membersOf,
  numberOf,
  type SourcePath,
  textOf,
} from "./source.ts";
import { priceOf } from "./target-price.ts";

/** A model of ours, as YAML will say it. */
export interface ImportedModel {
  readonly id: string;
  mode: "chat" | "embedding" | "image";
  readonly targets: Record<string, unknown>[];
  balance?: string;
  fallbacks?: Record<string, readonly string[]>;
  readonly access_groups: string[];
  info?: Record<string, unknown>;
  /** Where its first entry stands. */
  readonly line: number;
}

const MODES: Readonly<Record<string, ImportedModel["mode"]>> = {
  chat: "chat",
  responses: "chat",
  embedding: "embedding",
  image_generation: "image",
};

/** Members of `litellm_params` that go elsewhere, or that mean nothing here. */
const HANDLED = new Set([
  "litellm_credential_name",
  "guardrails",
  "rpm",
  "tpm",
  "max_parallel_requests",
  "weight",
  "order",
  "drop_params",
]);

/** Why a member has no equivalent, where one can say more than that it has none. */
const REASONS: Readonly<Record<string, string>> = {
  tags: "write `tags` at the target, if requests are routed by tags (docs/tag-routing.md)",
  max_retries: "retries are the pipeline's: `attempts` of the step retry",
  num_retries: "retries are the pipeline's: `attempts` of the step retry",
  cooldown_time: "the breaker is the pipeline's: `breaker` of the step balance",
  mock_response: "fakes belong to tests; the provider echo answers without a network",
  additional_drop_params:
    "drop_params drops what the provider cannot honour, and nothing else by name",
  max_budget: "budgets are those of keys, teams, tags and providers: the step limits",
  budget_duration: "budgets are those of keys, teams, tags and providers: the step limits",
  aws_role_name: "roles are assumed by AWS's own chain: `credentials: chain` and a profile",
};

const SUPPORTED =
  /^supports_(function_calling|parallel_function_calling|tool_choice|response_schema|system_messages|native_streaming|reasoning|prompt_caching|vision|pdf_input|audio_input|audio_output|video_input|web_search)$/;

/** Reads `model_list`. */
export function importModels(
  source: ImportSource,
  providers: ImportedProviders,
  dropsParams: boolean,
): ImportedModel[] {
  const models = new Map<string, ImportedModel>();
  const credentials = credentialsOf(source);
  const list = itemsOf(source.value["model_list"]);
  list.forEach((entry, index) => {
    const path = ["model_list", index];
    const { model_name: named, litellm_params: own, model_info: info, ...rest } = membersOf(entry);
    const id = textOf(named);
    if (id === undefined) return source.note("missing", path, "the entry has no model_name");
    for (const member of Object.keys(rest))
      source.note("missing", [...path, member], "it is not known");
    if (id.slice(0, -1).includes("*")) {
      return source.note(
        "missing",
        [...path, "model_name"],
        "a wildcard stands at the end of a model's name, and nowhere else",
      );
    }
    const given = membersOf(own);
    const params = { ...credentials.get(textOf(given["litellm_credential_name"]) ?? ""), ...given };
    const mode = modeOf(params, membersOf(info));
    if (mode === undefined) {
      const what =
        textOf(membersOf(info)["mode"]) ?? "speech, transcription, moderation or ranking";
      return source.note(
        "missing",
        path,
        `there is no route for ${what}; a provider's own API passes under its name`,
      );
    }
    const place = [...path, "litellm_params"];
    const about = membersOf(info);
    const target = importTarget(source, providers, params, about, place, dropsParams);
    if (target === undefined) return undefined;
    let model = models.get(id);
    if (model === undefined) {
      model = { id, mode, targets: [], access_groups: [], line: source.lineOf(path) };
      models.set(id, model);
    }
    if (model.mode !== mode) {
      const message = `the model is ${model.mode} by its first entry, this one is ${mode}`;
      source.note("changed", path, message);
    }
    model.targets.push(target);
    readInfo(source, model, about, [...path, "model_info"]);
    return undefined;
  });
  for (const model of models.values()) weigh(model);
  return [...models.values()];
}

function importTarget(
  source: ImportSource,
  providers: ImportedProviders,
  params: Members,
  info: Members,
  path: SourcePath,
  dropsParams: boolean,
): Record<string, unknown> | undefined {
  const place = providers.place(params, path);
  if (place === undefined) return undefined;
  const { price, read } = priceOf({ ...info, ...params });
  for (const member of Object.keys(params)) {
    if (HANDLED.has(member) || place.read.includes(member) || read.includes(member)) continue;
    const why =
      REASONS[member] ??
      "parameters of requests are the client's, and this is none that the gateway knows";
    source.note("missing", [...path, member], why);
  }
  if (params["guardrails"] !== undefined) {
    source.note(
      "missing",
      [...path, "guardrails"],
      "guardrails belong to pipelines, keys and teams, not to models",
    );
  }
  const whole = (member: string): number | undefined => {
    const number = numberOf(params[member]);
    return number === undefined ? undefined : Math.max(1, Math.round(number));
  };
  const order = numberOf(params["order"]);
  return {
    provider: place.provider,
    model: place.model,
    ...defined({
      weight: numberOf(params["weight"]),
      priority: order,
      rpm: whole("rpm"),
      tpm: whole("tpm"),
    }),
    ...defined({ max_parallel: whole("max_parallel_requests") }),
    ...(params["drop_params"] === true || (dropsParams && params["drop_params"] !== false)
      ? { drop_params: true }
      : {}),
    ...(price === undefined ? {} : { price }),
  };
}

/**
 * Weights are whole numbers here. LiteLLM takes a target without a weight as 0, and weighs by rpm
 * where no target has a weight.
 */
function weigh(model: ImportedModel): void {
  const { targets } = model;
  const isOrdered = targets.some(({ priority }) => priority !== undefined);
  if (isOrdered && targets.length > 1) model.balance = "priority";
  const by =
    targets[0]?.["weight"] !== undefined
      ? "weight"
      : targets.every(({ rpm }) => rpm !== undefined)
        ? "rpm"
        : undefined;
  const weights = targets.map((target) => (by === undefined ? 1 : Number(target[by] ?? 0)));
  const scale = weights.every(Number.isInteger) ? 1 : 1_000;
  const scaled = weights.map((weight) => Math.round(weight * scale));
  const divisor = Math.max(1, scaled.reduce(greatestCommonDivisor, 0));
  targets.forEach((target, index) => {
    const weight = (scaled[index] ?? 0) / divisor;
    delete target["weight"];
    if (by !== undefined && targets.length > 1 && weight !== 1)
      target["weight"] = Math.min(weight, 1_000_000);
  });
}

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right);
}

/** `undefined` for what is neither chat, nor an embedding, nor an image. */
function modeOf(params: Members, info: Members): ImportedModel["mode"] | undefined {
  const named = textOf(info["mode"]);
  if (named !== undefined) return MODES[named];
  const model = (textOf(params["model"]) ?? "").toLowerCase();
  if (/whisper|transcribe|(^|[/-])tts|rerank|moderation|speech|realtime/.test(model))
    return undefined;
  if (/embed|(^|[/-])bge-|(^|[/-])e5-/.test(model)) return "embedding";
  return /dall-e|gpt-image|imagen|stable-image|stable-diffusion|(^|[/])sd3|flux|^stability\//.test(
    model,
  )
    ? "image"
    : "chat";
}

function readInfo(
  source: ImportSource,
  model: ImportedModel,
  info: Members,
  path: SourcePath,
): void {
  for (const [member, value] of Object.entries(info)) {
    if (member === "access_groups") {
      for (const group of itemsOf(value))
        if (typeof group === "string" && !model.access_groups.includes(group))
          model.access_groups.push(group);
    } else if (SUPPORTED.test(member) && typeof value === "boolean")
      model.info = { ...model.info, [member]: value };
    else if (member === "max_input_tokens" || member === "max_output_tokens") {
      const tokens = numberOf(value);
      if (tokens !== undefined) model.info = { ...model.info, [member]: tokens };
    } else if (member === "base_model") {
      source.note(
        "changed",
        [...path, member],
        "prices go by the deployment's name; write a price at the target, or name it after its model",
      );
    } else if (!IGNORED.has(member) && !member.includes("cost")) {
      source.note("missing", [...path, member], "nothing is known of it here");
    }
  }
}

/** What the gateway makes itself, or what is read elsewhere. */
const IGNORED = new Set([
  "id",
  "mode",
  "db_model",
  "created_at",
  "updated_at",
  "created_by",
  "updated_by",
  "max_tokens",
  "description",
]);

function credentialsOf({ value }: ImportSource): ReadonlyMap<string, Members> {
  return new Map(
    itemsOf(value["credential_list"]).map((entry) => {
      const { credential_name: name, credential_values: values } = membersOf(entry);
      return [textOf(name) ?? "", membersOf(values)] as const;
    }),
  );
}

function defined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
