import { globSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import type { AnyDefinition } from "@sluice/contract";
import { packageFolders, ROOT } from "./sources.ts";

type Schema = Readonly<Record<string, unknown>>;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every key that a schema names, with the schema of its value: `server.admin.port`. */
function keysOf(schema: Schema, at: string): (readonly [string, Schema])[] {
  const { properties, items, additionalProperties } = schema;
  const named = Object.entries(isSchema(properties) ? properties : {}).filter(
    (entry): entry is [string, Schema] => isSchema(entry[1]),
  );
  return [
    ...named.flatMap(([name, value]) => [
      [`${at}.${name}`, value] as const,
      ...keysOf(value, `${at}.${name}`),
    ]),
    ...(isSchema(items) ? keysOf(items, `${at}[]`) : []),
    ...(isSchema(additionalProperties) ? keysOf(additionalProperties, `${at}.*`) : []),
    ...["oneOf", "anyOf", "allOf"].flatMap((word) => {
      const branches = schema[word];
      return Array.isArray(branches)
        ? branches.filter(isSchema).flatMap((branch) => keysOf(branch, at))
        : [];
    }),
  ];
}

function undescribed(schema: Schema, at: string): string[] {
  return keysOf(schema, at)
    .filter(
      ([, { description }]) => typeof description !== "string" || !/[.:`)]$/.test(description),
    )
    .map(([name]) => name);
}

const plugins = await Promise.all(
  packageFolders()
    .filter((folder) => folder.startsWith("plugins/"))
    .map(async (folder) => {
      const module = (await import(pathToFileURL(join(ROOT, folder, "src/index.ts")).href)) as {
        readonly default: AnyDefinition | readonly AnyDefinition[];
      };
      return [module.default].flat() as AnyDefinition[];
    }),
);
const definitions = plugins
  .flat()
  .map((definition) => [`${definition.kind} ${definition.name}`, definition] as const);

describe.each(definitions)("%s", (_name, definition) => {
  it("describes every key of its options", () => {
    expect(definition.config).toMatchObject({ type: "object" });
    expect(undescribed(definition.config, definition.name)).toEqual([]);
  });

  it("has a summary of one or more sentences", () => {
    expect(definition.summary).toMatch(/^[A-Z].+\.$/);
    expect(["experimental", "beta", "stable"]).toContain(definition.stability);
  });
});

describe("the engine's own schemas", () => {
  const folder = join(ROOT, "core/engine/src/config/schema");

  it.each(globSync("*.ts", { cwd: folder, exclude: ["*.test.ts"] }).sort())(
    "of %s describe every key",
    async (file) => {
      const module = (await import(pathToFileURL(join(folder, file)).href)) as Readonly<
        Record<string, unknown>
      >;
      const schemas = Object.entries(module).filter((entry): entry is [string, Schema] =>
        isSchema(entry[1]),
      );
      expect(schemas.flatMap(([name, schema]) => undescribed(schema, name))).toEqual([]);
    },
  );

  it("are found at all", async () => {
    const { gatewaySchema } = (await import(pathToFileURL(join(folder, "gateway.ts")).href)) as {
      readonly gatewaySchema: Schema;
    };
    const names = keysOf(gatewaySchema, "gateway").map(([name]) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "gateway.server.admin.port",
        "gateway.models[].targets[].model",
        "gateway.providers.*.use",
      ]),
    );
  });
});
