import { isObject } from "@sluice/kit";
import { providerContract } from "@sluice/testing";
import type { JsonValue } from "@sluice/contract";
import { describe, it } from "vitest";
import { gemini, vertex } from "./index.ts";

/**
 * Members of a schema in the API's older way to say it; anything else is "Unknown name … Cannot
 * find field".
 */
const SCHEMA =
  /^(?:type|format|title|description|nullable|enum|items|(?:min|max)(?:Items|Properties|Length|imum)|properties|required|pattern|anyOf|propertyOrdering)$/;

function checkSchema(value: JsonValue | undefined): void {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (!SCHEMA.test(name)) throw new Error(`A schema holds ${name}.`);
    if (name === "type" && typeof member !== "string")
      throw new Error("A schema's type is no text.");
    if (name === "enum" && !(member as JsonValue[]).every((each) => typeof each === "string"))
      throw new Error("An enum holds no text.");
    if (name === "items") checkSchema(member);
    if (name === "anyOf") for (const each of member as JsonValue[]) checkSchema(each);
    if (name === "properties")
      for (const each of Object.values(member as object)) checkSchema(each as JsonValue);
  }
}

function checkReferences(value: JsonValue | undefined): void {
  if (JSON.stringify(value ?? null).includes('"$ref":"'))
    throw new Error("A schema refers to another.");
}

/** What the API refuses: empty contents, parts without a body, references in schemas. */
function checkBody(body: { readonly [name: string]: JsonValue | undefined }): void {
  const contents = body.contents as { readonly role: string; readonly parts: readonly object[] }[];
  if (contents.length === 0) throw new Error("There are no contents.");
  for (const { role, parts } of contents) {
    if (role !== "user" && role !== "model") throw new Error(`A role is ${role}.`);
    if (parts.length === 0 || parts.some((part) => Object.keys(part).length === 0))
      throw new Error("A part is empty.");
  }
  const config = isObject(body.generationConfig) ? body.generationConfig : {};
  checkSchema(config.responseSchema);
  checkReferences(config.responseJsonSchema);
  const tools = (body.tools ?? []) as {
    readonly functionDeclarations?: { readonly [name: string]: JsonValue }[];
  }[];
  for (const declaration of tools.flatMap(
    ({ functionDeclarations = [] }) => functionDeclarations,
  )) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(String(declaration.name)))
      throw new Error("A tool's name is not allowed.");
    checkSchema(declaration.parameters);
    checkReferences(declaration.parametersJsonSchema);
  }
}

const README = new URL("../README.md", import.meta.url);
const at = (name: string): URL => new URL(`../fixtures/${name}/`, import.meta.url);

providerContract({ describe, it }, gemini, {
  fixtures: at("gemini"),
  model: "gemini-3-flash-preview",
  readme: README,
  checkBody,
});
describe("the older way to say a schema", () => {
  providerContract({ describe, it }, gemini, {
    fixtures: at("gemini-2"),
    model: "gemini-2.0-flash",
    readme: null,
    checkBody,
  });
});
providerContract({ describe, it }, vertex, {
  fixtures: at("vertex"),
  model: "gemini-2.5-flash",
  readme: null,
  config: { project: "my-project" },
  checkBody: (body) => (body.contents === undefined ? undefined : checkBody(body)),
});
