/**
 * Models that a body names beside its own: in its tools, in `models`, of which routers of upstreams
 * choose one, and in `fallbacks`, which an upstream asks by itself.
 */

import { isObject } from "@sluice/kit";
import { type Exchange, GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import type { ConfiguredTargets } from "./configured.ts";
import { isLimited, mayUseTarget, type ModelRules } from "./bounds.ts";

/** Members of a body that hold tools, and members of the same kind. */
const TOOL_LISTS = ["tools", "plugins", "extra_body"] as const;

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

/**
 * Models that an upstream asks when the body's own declines: a list of objects with a `model`, or a
 * text for models of its choice
 * (platform.claude.com/docs/en/build-with-claude/refusals-and-fallback, "server-side fallback").
 */
const FALLBACKS = "fallbacks";

const MAX_DEPTH = 16;
/** The maximum of characters of a place in a message. */
const MAX_SHOWN = 120;

/** What decides about the models of tools. */
export interface ToolRules {
  readonly rules: ModelRules;
  readonly targets: ConfiguredTargets;
}

/**
 * Throws `permission_denied` for a tool or a list of models with one that the key may not use.
 * `param` is its place.
 */
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
  // The text of a place is made where one is refused: a request may have many tools.
  const path: (string | number)[] = [];
  const check = (model: JsonValue): void => {
    const id = `${provider}/${String(model)}`;
    const isAllowed =
      isUnlimited ||
      (typeof model === "string" &&
        model !== "" &&
        mayUseTarget(identity, { id, provider, model }, rules));
    if (!isAllowed || targets.isLeftOut(exchange, id) || targets.isReserved(identity, id))
      throw refusal(path, "names a model that this key may not use.");
  };
  const checkNamed = (member: JsonValue | undefined, name: string): void => {
    if (member === undefined || member === null) return;
    path.push(name);
    for (const each of Array.isArray(member) ? (member as readonly JsonValue[]) : [member])
      check(each);
    path.pop();
  };
  const walk = (value: JsonValue | undefined, name: string | number): void => {
    if (path.length > MAX_DEPTH)
      throw refusal([...path, name], "is nested too deeply to be checked for models.");
    path.push(name);
    if (Array.isArray(value)) {
      for (const [index, item] of (value as readonly JsonValue[]).entries()) walk(item, index);
    } else if (isObject(value)) walkObject(value);
    path.pop();
  };
  const walkObject = (value: JsonObject): void => {
    if (!isUnlimited && runsUnnamedModel(value))
      throw refusal(path, "runs a model and names none: send one that this key may use.", "model");
    for (const [name, member] of Object.entries(value)) {
      if (MODEL_NAMES.has(name)) checkNamed(member, name);
      else if (!SCHEMAS.has(name) || (name === "parameters" && isOfServer(value)))
        walk(member, name);
    }
  };
  checkNamed(body.models, "models");
  if (typeof body[FALLBACKS] === "string") checkNamed(body[FALLBACKS], FALLBACKS);
  else walk(body[FALLBACKS], FALLBACKS);
  for (const name of TOOL_LISTS) walk(body[name], name);
}

function runsUnnamedModel({ type, model }: JsonObject): boolean {
  return typeof type === "string" && RUN_A_MODEL.has(type) && model === undefined;
}

function isOfServer({ type }: JsonObject): boolean {
  return typeof type === "string" && !CALLED_BY_CLIENT.has(type);
}

/** `member`: one that is missing at the place, and is the refused parameter. */
function refusal(path: readonly (string | number)[], text: string, member?: string): GatewayError {
  const place = placeOf(path);
  const param = (member === undefined ? place : `${place}.${member}`).slice(0, MAX_SHOWN);
  return new GatewayError("permission_denied", `${place.slice(0, MAX_SHOWN)} ${text}`, { param });
}

function placeOf([first = "", ...rest]: readonly (string | number)[]): string {
  return (
    String(first) +
    rest.map((name) => (typeof name === "number" ? `[${name}]` : `.${name}`)).join("")
  );
}
