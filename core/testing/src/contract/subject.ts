/**
 * The provider under test: made from its definition with a key that must never show, and asked as
 * the gateway asks.
 */

import {
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  type Operation,
  type Provider,
  type ProviderDefinition,
  type ProviderRequest,
  Secret,
} from "@sluice/contract";
import { writtenDocument } from "@sluice/kit/internals";
import { isObject } from "@sluice/kit";
import { fakeHost } from "../fake-host.ts";

/**
 * The value of every secret option in tests: nothing that leaves a provider may hold it, but for a
 * header.
 */
export const CONTRACT_KEY = "sk-contract-4f1c9e7ab20d";
/** How it is shown in fixtures. */
export const SHOWN_KEY = "[secret]";
/** The model's name for the client, in every reply of a fixture. */
export const REPLY_MODEL = "contract/model";

/** The provider of a definition, with defaults, secrets and `overrides` for options. */
export function makeProvider(
  definition: ProviderDefinition<never>,
  overrides: JsonObject = {},
): Provider {
  return definition.create(optionsOf(definition.config, overrides) as never, fakeHost());
}

/** Options as the configuration would give them: defaults filled in, secrets as secrets. */
export function optionsOf(schema: JsonSchema, overrides: JsonObject): Record<string, unknown> {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? (schema.required as readonly JsonValue[]) : [];
  const options: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const given = overrides[name];
    if (property["x-secret"] === true) {
      if (given !== null && (given !== undefined || required.includes(name))) {
        options[name] = new Secret(
          name,
          typeof given === "string" && given !== SHOWN_KEY ? given : CONTRACT_KEY,
        );
      }
    } else if (given !== undefined && given !== null) options[name] = given;
    else if (property.default !== undefined) options[name] = property.default;
  }
  return options;
}

/** What a request of a fixture is, beside its body. */
export interface RequestTerms {
  readonly provider: string;
  readonly model: string;
  readonly operation: Operation;
  readonly stream: boolean;
}

/** The request that a provider gets for a client's body. */
export function requestOf(
  body: JsonObject,
  { provider, model, operation, stream }: RequestTerms,
): ProviderRequest {
  return {
    operation,
    document: writtenDocument(body),
    target: { id: `${provider}/${model}`, provider, model },
    replyModel: REPLY_MODEL,
    stream,
    replyId: "chatcmpl-contract",
    createdSeconds: 1_767_225_600,
  };
}

/** The same request with another body. */
export function withBody(request: ProviderRequest, body: JsonObject): ProviderRequest {
  return { ...request, document: writtenDocument(body) };
}
