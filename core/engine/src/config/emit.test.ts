import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { editorSchemas } from "./emit.ts";
import { definitions, sound } from "./load.fixture.ts";

const schemas = editorSchemas(definitions);

/** Each schema is compiled once: that is most of the time of a check. */
const validators = new Map<string, ValidateFunction>();

function check(name: string, text: string): boolean {
  const validate =
    validators.get(name) ??
    new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(schemas[name] ?? "") as object,
    );
  validators.set(name, validate);
  return validate(parse(text));
}

const gateway = sound["config/gateway.yaml"] ?? "";
const pipeline = sound["pipelines/chat.yaml"] ?? "";

describe("editor schemas", () => {
  it("are the same whatever the order of the definitions, and end with a line break", () => {
    expect(editorSchemas(new Map([...definitions].toReversed()))).toEqual(schemas);
    expect(Object.values(schemas).every((text) => text.endsWith("}\n"))).toBe(true);
  });

  it("accept what the gateway accepts", () => {
    expect(check("gateway.schema.json", gateway)).toBe(true);
    expect(
      check(
        "gateway.schema.json",
        gateway.replace("port: 4000", 'port: "${env:PORT}", drain_timeout: 5s'),
      ),
    ).toBe(true);
    expect(check("pipeline.schema.json", pipeline)).toBe(true);
    expect(
      check(
        "pipeline.schema.json",
        pipeline.replace("[auth,", "[{ use: retry, with: { attempts: 2 } },"),
      ),
    ).toBe(true);
    expect(
      check("prices.schema.json", "version: 1\nprices: { openai/x: { input: 0.15, output: 1 } }"),
    ).toBe(true);
  });

  it("refuse what the gateway refuses", () => {
    expect(check("gateway.schema.json", gateway.replace("port: 4000", "prot: 4000"))).toBe(false);
    expect(check("gateway.schema.json", gateway.replace("port: 4000", "drain_timeout: soon"))).toBe(
      false,
    );
    expect(check("gateway.schema.json", gateway.replace("use: echo", "use: ecko"))).toBe(false);
    expect(
      check("gateway.schema.json", gateway.replace("use: echo", "use: echo, colour: red")),
    ).toBe(false);
    expect(check("pipeline.schema.json", pipeline.replace("[auth,", "[auht,"))).toBe(false);
    expect(
      check(
        "pipeline.schema.json",
        pipeline.replace("[auth,", "[{ use: retry, with: { attempts: 9 } },"),
      ),
    ).toBe(false);
  });

  it("describe every key", () => {
    const undescribed: string[] = [];
    const walk = (schema: unknown, path: string): void => {
      if (typeof schema !== "object" || schema === null) return;
      for (const [key, member] of Object.entries(schema)) {
        if (key === "properties" && !path.includes("/if")) {
          for (const [name, property] of Object.entries(
            member as Record<string, { description?: string }>,
          )) {
            if (property.description === undefined) undescribed.push(`${path}/${name}`);
          }
        }
        walk(member, `${path}/${key}`);
      }
    };
    for (const [name, text] of Object.entries(schemas)) walk(JSON.parse(text), name);
    expect(undescribed).toEqual([]);
  });
});
