/** Models in the tools of a body. The upstream runs them beside the model of the request. */

import { isObject } from "@sluice/kit";
import { type Exchange, GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import type { ConfiguredTargets } from "./configured.ts";
import { isLimited, mayUseTarget, type ModelRules } from "./bounds.ts";

/** Members of a body that hold tools, and members of the same kind. */
const TOOL_LISTS = ["tools", "plugins"] as const;

/**
 * Members of a tool with the client's own content: a property of a schema may be called `model`.
 */
const SCHEMAS: ReadonlySet<string> = new Set(
  (
    "parameters parametersJsonSchema parameters_json_schema parameter_definitions input_schema inputSchema input_examples " +
    "response responseJsonSchema response_json_schema output_schema outputSchema json_schema schema function"
  ).split(" "),
);

/** Types of tools whose `parameters` are a schema: those of another one set up a server's tool. */
const CALLED_BY_CLIENT: ReadonlySet<string> = new Set(["function", "custom"]);

/** Members that name models. */
const MODEL_NAMES: ReadonlySet<string> = new Set(["model", "models"]);

/**
 * Tools that run a model of the upstream's choice without a `model`
 * (platform.openai.com/docs/guides/tools-image-generation).
 */
const RUN_A_MODEL: ReadonlySet<string> = new Set(["image_generation"]);

const MAX_DEPTH = 16;

/** What decides about the models of tools. */
export interface ToolRules {
  readonly rules: ModelRules;
  readonly targets: ConfiguredTargets;
}

/** Throws `permission_denied` for a tool whose model the key may not use. `param` is the place. */
export function checkToolModels(
  exchange: Exchange,
  provider: string,
  body: JsonObject,
  { rules, targets }: ToolRules,
): void {
  const { identity } = exchange;
  if (identity === undefined) return;
  const isUnlimited = !isLimited(identity);
  if (isUnlimited && !targets.areTagged && !targets.areReserved) return;
  const check = (model: JsonValue, place: string): void => {
    const id = `${provider}/${String(model)}`;
    const isAllowed =
      isUnlimited ||
      (typeof model === "string" &&
        model !== "" &&
        mayUseTarget(identity, { id, provider, model }, rules));
    if (!isAllowed || targets.isLeftOut(exchange, id) || targets.isReserved(identity, id))
      throw refusal(place, `${place} names a model that this key may not use.`);
  };
  const walk = (value: JsonValue | undefined, place: string, depth: number): void => {
    if (depth > MAX_DEPTH)
      throw refusal(place, `${place} is nested too deeply to be checked for models.`);
    if (Array.isArray(value)) {
      for (const [index, item] of (value as readonly JsonValue[]).entries())
        walk(item, `${place}[${index}]`, depth + 1);
    } else if (isObject(value)) {
      if (
        typeof value.type === "string" &&
        RUN_A_MODEL.has(value.type) &&
        value.model === undefined &&
        !isUnlimited
      )
        throw refusal(
          `${place}.model`,
          `${place} runs a model and names none: send one that this key may use.`,
        );
      for (const [name, member] of Object.entries(value)) {
        const inner = `${place}.${name}`;
        if (MODEL_NAMES.has(name) && member !== undefined && member !== null) {
          if (Array.isArray(member))
            for (const each of member as readonly JsonValue[]) check(each, inner);
          else check(member, inner);
        } else if (!SCHEMAS.has(name) || (name === "parameters" && isOfServer(value)))
          walk(member, inner, depth + 1);
      }
    }
  };
  for (const name of TOOL_LISTS) walk(body[name], name, 0);
}

function isOfServer({ type }: JsonObject): boolean {
  return typeof type === "string" && !CALLED_BY_CLIENT.has(type);
}

function refusal(place: string, text: string): GatewayError {
  const shown = place.slice(0, 120);
  return new GatewayError("permission_denied", text.replace(place, shown), { param: shown });
}
