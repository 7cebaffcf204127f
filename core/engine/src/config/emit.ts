/** Schemas for editors: what can be written where, with the options of every registered plugin. */

import type { AnyDefinition, JsonObject, JsonSchema, JsonValue } from "@sluice/contract";

import { DURATION_PATTERN } from "@sluice/kit/internals";
import { SIZE_PATTERN } from "@sluice/runtime";
import type { Definitions } from "./validate/plugin-section.ts";
import { gatewaySchema } from "./schema/gateway.ts";
import { pipelineSchema, stepSchema } from "./schema/pipeline.ts";
import { optionsSchema, usedPluginSchema } from "./schema/plugin-options.ts";
import { pricesSchema } from "./schema/prices.ts";

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** The texts of the schema files by their names. The same definitions give the same texts. */
export function editorSchemas(definitions: Definitions): Readonly<Record<string, string>> {
  const sorted = [...definitions.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  const of = (kind: AnyDefinition["kind"]): AnyDefinition[] =>
    sorted.filter((definition) => definition.kind === kind);
  const properties = gatewaySchema["properties"] as JsonObject;
  const gateway = {
    ...gatewaySchema,
    properties: {
      ...properties,
      store: chooser(properties["store"] as JsonObject, of("store")),
      shared: chooser(properties["shared"] as JsonObject, of("state")),
      providers: {
        ...(properties["providers"] as JsonObject),
        additionalProperties: chooser(
          (properties["providers"] as JsonObject)["additionalProperties"] as JsonObject,
          of("provider"),
        ),
      },
      guardrails: {
        ...(properties["guardrails"] as JsonObject),
        additionalProperties: chooser(
          (properties["guardrails"] as JsonObject)["additionalProperties"] as JsonObject,
          of("guardrail"),
        ),
      },
      extensions: {
        ...(properties["extensions"] as JsonObject),
        properties: Object.fromEntries(
          of("extension").map((one) => [
            one.name,
            { description: one.summary, ...optionsSchema(one) },
          ]),
        ),
      },
    },
  };
  const steps = {
    ...((pipelineSchema["properties"] as JsonObject)["steps"] as JsonObject),
    items: stepChooser(of("step")),
  };
  const pipeline = {
    ...pipelineSchema,
    properties: { ...(pipelineSchema["properties"] as JsonObject), steps },
  };
  return {
    "gateway.schema.json": textOf("config/gateway.yaml", gateway),
    "pipeline.schema.json": textOf("pipelines/*.yaml", pipeline),
    "prices.schema.json": textOf("config/prices.yaml", pricesSchema),
  };
}

/**
 * `use` first, then the options of the chosen plugin: `if` and `then` give editors one branch to
 * complete from.
 */
function chooser(base: JsonObject, definitions: readonly AnyDefinition[]): JsonSchema {
  // An empty list of choices is no JSON Schema.
  if (definitions.length === 0) return base;
  const names = definitions.map(({ name }) => name);
  const use = { type: "string", description: "The plugin's name.", enum: names };
  return {
    ...base,
    properties: { use },
    allOf: definitions.map((definition) => whenUsed(definition, usedPluginSchema(definition))),
  };
}

function stepChooser(definitions: readonly AnyDefinition[]): JsonSchema {
  const names: JsonValue = definitions.map(({ name }) => name);
  const properties = stepSchema["properties"] as JsonObject;
  return {
    description: "A step's name, or `use` and `with`.",
    anyOf: [
      { oneOf: definitions.map(({ name, summary }) => ({ const: name, description: summary })) },
      {
        ...stepSchema,
        properties: { ...properties, use: { ...(properties["use"] as JsonObject), enum: names } },
        allOf: definitions.map((definition) =>
          whenUsed(definition, {
            properties: { with: { description: definition.summary, ...optionsSchema(definition) } },
          }),
        ),
      },
    ],
  };
}

/** The branch of a chosen plugin. */
function whenUsed({ name }: AnyDefinition, schema: JsonObject): JsonObject {
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is JSON Schema's own word.
  return { if: { required: ["use"], properties: { use: { const: name } } }, then: schema };
}

function textOf(title: string, schema: JsonSchema): string {
  return `${JSON.stringify({ $schema: DRAFT, title, ...(portable(schema) as JsonObject) }, undefined, 2)}\n`;
}

const FORMATS: Readonly<Record<string, JsonObject>> = {
  duration: { pattern: DURATION_PATTERN },
  size: { pattern: SIZE_PATTERN },
  price: {},
  origin: { pattern: "^https?://[^/?#@]+$" },
};

const REFERENCE: JsonObject = { type: "string", pattern: "^\\$\\{(env|file):.+\\}$" };

/**
 * A schema in words that every editor knows: our formats become patterns (JSON Schema's own
 * `duration` is another notation), our keywords go, and where text is refused or must have a form a
 * reference may stand instead.
 */
function portable(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).map((item) => portable(item) ?? null);
  if (typeof value !== "object" || value === null) return value;
  const { format, ...rest } = value as JsonObject;
  const own = typeof format === "string" ? FORMATS[format] : undefined;
  const translated: JsonObject = own === undefined ? (value as JsonObject) : { ...rest, ...own };
  const members = Object.entries(translated).filter(([key]) => !key.startsWith("x-"));
  const plain: JsonObject = Object.fromEntries(
    members.map(([key, member]) => [key, portable(member)]),
  );
  const isPlain = own === undefined && !SCALARS.has(plain["type"]);
  if (isPlain) return plain;
  const { description, default: preset, ...form } = plain;
  return {
    ...(description === undefined ? {} : { description }),
    ...(preset === undefined ? {} : { default: preset }),
    anyOf: [form, REFERENCE],
  };
}

const SCALARS = new Set<JsonValue | undefined>(["integer", "number", "boolean"]);
