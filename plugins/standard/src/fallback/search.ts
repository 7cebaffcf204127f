/**
 * Searches the stand-in models of one request that were not called yet: those of the operator's
 * lists, or the request's own.
 */

import {
  type Exchange,
  type FallbackClass,
  GatewayError,
  type GatewayRequest,
  type Host,
  type Model,
  type JsonObject,
} from "@sluice/contract";
import { fallbackClassOf, isPartOfGeneral } from "./failure-class.ts";
import { type Candidate, candidateOf } from "./model.ts";
import type { StandInsLeft } from "../retry/attempt-budget.ts";
import { type Needs, needsOf } from "./needs.ts";
import { routedModel } from "@sluice/runtime";
import { isObject } from "@sluice/kit";

/** The parts of a search. `model` and `request` are those of the exchange's start. */
export interface SearchParts {
  readonly exchange: Exchange;
  readonly host: Host;
  readonly model: Model;
  readonly request: GatewayRequest;
  readonly standIns: StandIns;
  readonly classes: readonly FallbackClass[];
  /** Maximum number of models. */
  readonly max: number;
}

/** A stand-in model, and the request for it. */
export interface Instead {
  readonly model: Model;
  readonly request: GatewayRequest;
}

const SKIPPED_HEADER = "x-sluice-fallback-skipped";
/** Bound of ids in notes: a client chooses the length of an id that a wildcard matches. */
const MAX_SKIPPED_CHARACTERS = 1_000;

/**
 * Finds stand-ins in the order of the failure class's list. It does no work before the first
 * failure.
 */
export class StandInSearch implements StandInsLeft {
  readonly #parts: SearchParts;
  #needs: Needs | undefined;
  #asked = 0;
  #passed: Set<string> | undefined;
  #candidates: Map<string, Promise<Candidate>> | undefined;

  constructor(parts: SearchParts) {
    this.#parts = parts;
  }

  /** Whether `max` models were called. */
  get isOver(): boolean {
    return this.#asked >= this.#parts.max;
  }

  /** Number of models that were called. */
  get asked(): number {
    return this.#asked;
  }

  /** Whether the list for upstream failures has a model with a target that the key may use. */
  get isReady(): boolean {
    const { exchange, host, classes, standIns } = this.#parts;
    const { identity } = exchange;
    if (this.isOver || identity === undefined || !classes.includes("general")) return false;
    return standIns("general").some(({ id }) => {
      const found = this.#passed?.has(id) === true ? undefined : host.models.find(id);
      const model = found === undefined ? undefined : routedModel(found, exchange);
      return (
        model !== undefined && model.targets.length > 0 && host.authority.mayUse(identity, model)
      );
    });
  }

  /** Whether a model remains that can stand in after a failure. */
  async has(error: GatewayError): Promise<boolean> {
    for (const { id } of this.#remaining(error)) {
      if ((await this.#candidate(id)).model !== undefined) return true;
    }
    return false;
  }

  /** The next model that can stand in after a failure, and its request. Each is returned once. */
  async next(error: GatewayError): Promise<Instead | undefined> {
    const { exchange, request } = this.#parts;
    for (const { id, overrides, isOfRequest } of this.#remaining(error)) {
      this.#passedIds.add(id);
      const { model, skipped, isUnseen } = await this.#candidate(id);
      for (const what of skipped) exchange.note("fallback", "skipped", what);
      // A hidden name of the operator's list is not reported to the key.
      if (isUnseen !== true || isOfRequest === true) reportSkipped(exchange, skipped);
      if (model === undefined) continue;
      this.#asked += 1;
      return { model, request: { ...request, document: request.document.with(overrides) } };
    }
    return undefined;
  }

  get #passedIds(): Set<string> {
    return (this.#passed ??= new Set([this.#parts.model.id]));
  }

  #remaining(error: GatewayError): readonly StandIn[] {
    const name = this.isOver
      ? undefined
      : enabledClass(fallbackClassOf(error), this.#parts.classes);
    return name === undefined
      ? []
      : this.#parts.standIns(name).filter(({ id }) => !this.#passedIds.has(id));
  }

  #candidate(id: string): Promise<Candidate> {
    const { model, exchange, host, request } = this.#parts;
    const candidates = (this.#candidates ??= new Map());
    const known = candidates.get(id);
    if (known !== undefined) return known;
    this.#needs ??= needsOf(request, exchange.operation, host.tokens);
    const looked = candidateOf(id, { asked: model, exchange, host, needs: this.#needs });
    candidates.set(id, looked);
    return looked;
  }
}

/** The class of a failure in these lists: `general` includes its parts when they have no list. */
function enabledClass(
  name: FallbackClass | undefined,
  enabled: readonly FallbackClass[],
): FallbackClass | undefined {
  if (name === undefined || enabled.includes(name)) return name;
  return isPartOfGeneral(name) && enabled.includes("general") ? "general" : undefined;
}

function reportSkipped({ headers }: Exchange, skipped: readonly string[]): void {
  if (skipped.length === 0) return;
  const before = headers.get(SKIPPED_HEADER);
  const all = before === undefined ? skipped : [before, ...skipped];
  headers.set(SKIPPED_HEADER, all.join(", ").slice(0, MAX_SKIPPED_CHARACTERS));
}

/** A stand-in model, and the overridden fields of the body. */
interface StandIn {
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
