/** What the operations that InvokeModel serves have in common: bodies of the models' own. */

import { refusalsOf, type Refuse } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/spec";

/** Members that the gateway itself honours, or that the path says. */
const GENERAL = new Set(["model", "user", "metadata", "stream"]);

/** A client's body, of which whatever is asked for must be taken or refused. */
export interface InvokeRequest {
  readonly body: JsonObject;
  readonly refuse: Refuse;
  /** A member that is not null. */
  get(name: string): JsonValue | undefined;
}

/** Reads a body. Throws `unsupported_parameter` for a member that is not in `known`. */
export function readInvoke(request: ProviderRequest, known: readonly string[]): InvokeRequest {
  const body = request.document.value;
  const refuse = refusalsOf(request);
  for (const [name, value] of Object.entries(body)) {
    if (value !== undefined && value !== null && !GENERAL.has(name) && !known.includes(name)) {
      refuse(name, `the parameter ${name.slice(0, 64)}`);
    }
  }
  return { body, refuse, get: (name) => body[name] ?? undefined };
}

/** The members of a body that are there, under the model's own names. */
export function taken(request: InvokeRequest, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (request.get(name) === undefined ? [] : [[name, request.get(name)]])));
}
