/** The stand-in models of one request: the operator's lists, or the request's own. */

import { isObject } from "@sluice/kit";
import {
  type FallbackClass,
  GatewayError,
  type GatewayRequest,
  type JsonObject,
  type Model,
} from "@sluice/contract";
import { isPartOfGeneral } from "./failure-class.ts";

/** A stand-in model, and the overridden fields of the body. */
export interface StandIn {
  readonly id: string;
  readonly overrides: JsonObject;
  /** Whether the client named it. Messages name only such models. */
  readonly isOfRequest?: true;
}

/** Stand-in models by the class of the failure. */
export type StandIns = (name: FallbackClass) => readonly StandIn[];

const NONE: readonly StandIn[] = Object.freeze([]);
const NO_OVERRIDES: JsonObject = Object.freeze({});

/**
 * The fields that an override may set: numbers, switches and words of the API. Outer steps, such as
 * limits and guardrails, have checked all other fields, which every model gets unchanged. The
 * ingress checks the types.
 */
const ALLOWED: ReadonlySet<string> = new Set(
  `temperature top_p max_tokens max_completion_tokens seed presence_penalty frequency_penalty parallel_tool_calls reasoning_effort verbosity
  service_tier dimensions size quality`.split(/\s+/),
);
/** A word of the API, or a size, but no free text. */
const WORD = /^[a-z0-9_-]{1,16}$/;

/**
 * The stand-ins of a request for a model. Throws `invalid_field` for an override of another field.
 * `fallbacks: []` switches every class off.
 */
export function standInsOf(request: GatewayRequest, model: Model): StandIns {
  const { fallbacks, context_window_fallback_dict: larger } = request.fields;
  const asked = Array.isArray(fallbacks) ? fallbacks.map(readStandIn) : undefined;
  if (asked?.length === 0) return () => NONE;
  const named = isObject(larger) ? (larger[request.model] ?? larger[model.id]) : undefined;
  return (name) => {
    const isGeneral = name === "general" || isPartOfGeneral(name);
    if (isGeneral && asked !== undefined) return asked;
    if (name === "context_window" && typeof named === "string")
      return [{ id: named, overrides: NO_OVERRIDES, isOfRequest: true }];
    const ids = model.fallbacks?.[name] ?? (isGeneral ? model.fallbacks?.general : undefined);
    return ids?.map((id) => ({ id, overrides: NO_OVERRIDES })) ?? NONE;
  };
}

function readStandIn(entry: unknown, index: number): StandIn {
  if (!isObject(entry)) return { id: String(entry), overrides: NO_OVERRIDES, isOfRequest: true };
  const { model, ...overrides } = entry;
  const fixed = Object.keys(overrides).find(
    (name) => !ALLOWED.has(name) || !isScalar(overrides[name]),
  );
  if (fixed !== undefined) {
    const param = `fallbacks[${index}].${fixed}`;
    const allowed = [...ALLOWED].join(", ");
    throw new GatewayError(
      "invalid_field",
      `The field ${param} cannot be overridden for a fallback; these can: ${allowed}.`,
      {
        param,
      },
    );
  }
  return { id: String(model), overrides, isOfRequest: true };
}

function isScalar(value: unknown): boolean {
  return (
    value === null ||
    typeof value === "number" ||
    typeof value === "boolean" ||
    (typeof value === "string" && WORD.test(value))
  );
}
