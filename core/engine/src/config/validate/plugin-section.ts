/** The options of one use of a plugin, checked against its definition. */

import type { AnyDefinition, JsonSchema } from "@sluice/contract";

import type { Path } from "../files/document.ts";
import { nameFix } from "./explain.ts";
import type { Finding } from "../finding.ts";
import { formatPath, setAtPath, valueAtPath } from "../files/path.ts";
import type { ResolvedDocument } from "../files/references.ts";
import { engineKeys, optionsSchema, usedPluginSchema } from "../schema/plugin-options.ts";
import { checkSection, findingOf } from "./section.ts";

/** The registered plugins, by `kind/name`. */
export type Definitions = ReadonlyMap<string, AnyDefinition>;

/** One use of a plugin. */
export interface PluginUse {
  readonly kind: AnyDefinition["kind"];
  readonly name: string;
  /** Where the name stands. */
  readonly namePath: Path;
  /** Where the options stand. */
  readonly base: Path;
  /** The options, in place; for a bare step an empty object. */
  readonly value: object;
  /** The plugin's own check is left out: its options are not complete. */
  readonly skipCheck?: boolean;
}

/** The findings of one use of a plugin: its name, its options' schema, its own check. */
export function checkPlugin(
  resolved: ResolvedDocument,
  definitions: Definitions,
  use: PluginUse,
): Finding[] {
  const definition = definitions.get(`${use.kind}/${use.name}`);
  if (definition === undefined) {
    const known = [...definitions.values()]
      .filter((other) => other.kind === use.kind)
      .map((other) => other.name);
    const message = `\`${formatPath(use.namePath)}\` names the ${use.kind} plugin "${use.name}", which no loaded package has`;
    const fix = nameFix(
      use.name,
      known.sort(),
      "install its package, and add it to `plugins` where the file has that list",
    );
    const finding = findingOf(resolved, { path: use.namePath, on: "value", message, fix });
    return [{ ...finding, isUnknownPlugin: true, unknownPlugin: `${use.kind}/${use.name}` }];
  }
  const schema: JsonSchema = WITHOUT_USE.has(use.kind)
    ? optionsSchema(definition)
    : usedPluginSchema(definition);
  const findings = checkSection(resolved, use.base, schema, use.value);
  if (findings.length > 0 || use.skipCheck === true || definition.check === undefined)
    return findings;
  try {
    const options = WITHOUT_USE.has(use.kind) ? use.value : pluginOptions(use.kind, use.value);
    return definition.check(options as never).map((fault) =>
      findingOf(resolved, {
        path: [...use.base, ...fault.path],
        on: "value",
        message: fault.message,
        fix: fault.fix,
      }),
    );
  } catch (error) {
    const message = `the check of plugin "${use.name}" failed: ${error instanceof Error ? error.message : "unknown"}`;
    return [
      findingOf(resolved, {
        path: use.base,
        on: "key",
        message,
        fix: "report it to the author of the plugin",
      }),
    ];
  }
}

/** Kinds whose options stand alone, without `use` and keys of the engine. */
const WITHOUT_USE: ReadonlySet<AnyDefinition["kind"]> = new Set(["step", "face", "extension"]);

/** A plugin's own options: what is left without the keys of the engine. */
export function pluginOptions(
  kind: AnyDefinition["kind"],
  value: object,
): Readonly<Record<string, unknown>> {
  const reserved = engineKeys(kind);
  return Object.fromEntries(Object.entries(value).filter(([key]) => !reserved.includes(key)));
}

/**
 * Checks the options of extensions in gateway.yaml, in place. Each loaded extension has some: those
 * of one without an entry are filled in.
 */
export function extensionFaults(gateway: ResolvedDocument, definitions: Definitions): Finding[] {
  const section = valueAtPath(gateway.value, ["extensions"]);
  const written = isSection(section) ? Object.keys(section) : [];
  const loaded = [...definitions.values()].filter(({ kind }) => kind === "extension");
  const names = new Set([...written, ...loaded.map(({ name }) => name)]);
  if (names.size > 0 && !isSection(section)) setAtPath(gateway.value, ["extensions"], {});
  return [...names].flatMap((name) => {
    const path = ["extensions", name];
    if (!written.includes(name)) setAtPath(gateway.value, path, {});
    const value = valueAtPath(gateway.value, path);
    if (typeof value !== "object" || value === null) return [];
    const use = { kind: "extension", name, namePath: path, base: path, value } as const;
    return checkPlugin(gateway, definitions, use);
  });
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Headers that carry a key for the clients of extensions. */
export function keyHeadersOf(definitions: Definitions): readonly string[] {
  return [...definitions.values()].flatMap((definition) =>
    definition.kind === "extension" ? (definition.keyHeaders ?? []) : [],
  );
}
