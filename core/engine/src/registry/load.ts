/** Loads the packages and files that `plugins:` names. */

import { within } from "@sluice/kit";
import { pathToFileURL } from "node:url";
import { errorMessage, API_VERSION, type AnyDefinition } from "@sluice/contract";
import type { Finding } from "../config/finding.ts";
import type { PluginReference, Position } from "../config/snapshot.ts";
import { type Definitions, indexDefinitions, type LoadedPlugin } from "./definitions.ts";
import { loadFaultAt } from "./fault-place.ts";
import { type Fault, locate } from "./locate.ts";
import { filesOf, registerResolveHook } from "./resolve-hook.ts";

/** What loading gave: definitions, or findings that say which entry failed and why. */
export interface LoadedDefinitions {
  readonly definitions: Definitions;
  readonly findings: readonly Finding[];
}

/** A plugin's module may take this long to load, in milliseconds. */
const LOAD_TIMEOUT_MS = 10_000;

/** What `use` can say; the define functions of the kit hold names to the same. */
const NAME = /^[a-z][a-z0-9-]*$/;

const STABILITIES: ReadonlySet<string> = new Set(["stable", "beta", "experimental"]);
const KINDS = new Set(["step", "provider", "guardrail", "face", "extension", "store", "state"]);

/**
 * Loads every plugin of the list, beside the definitions that a program brings. Code runs here, so
 * the list is cold: an edit of it needs a restart.
 */
export async function loadPlugins(
  references: readonly PluginReference[],
  own: readonly AnyDefinition[] = [],
  timeoutMs = LOAD_TIMEOUT_MS,
): Promise<LoadedDefinitions> {
  const plugins: LoadedPlugin[] = [];
  const findings: Finding[] = [];
  const owners = new Map<string, string>();
  const add = (loaded: LoadedPlugin, { at, isFound }: Pick<PluginReference, "at" | "isFound">) => {
    plugins.push(loaded);
    for (const { kind, name } of loaded.definitions) {
      if (kind === "extension" && isFound === true)
        findings.push({ at, ...unlisted(name, loaded.specifier) });
      const owner = owners.get(`${kind}/${name}`);
      // An entry that is written twice has its own finding.
      if (owner !== undefined && owner !== loaded.specifier)
        findings.push({ at, ...twice(`${kind} ${name}`, owner, loaded.specifier, isFound) });
      owners.set(`${kind}/${name}`, loaded.specifier);
    }
  };
  for (const [index, definition] of own.entries()) {
    const specifier = `plugins[${index}]`;
    const fault = definitionFault(specifier, definition);
    if (fault !== undefined) findings.push({ at: PROGRAM, ...fault });
    else add({ specifier, version: undefined, definitions: [definition] }, { at: PROGRAM });
  }
  for (const reference of references) {
    const loaded = await loadPlugin(reference, timeoutMs);
    if ("message" in loaded) findings.push({ at: reference.at, ...loaded });
    else add(loaded, reference);
  }
  return { definitions: indexDefinitions(plugins), findings };
}

/** Where the options of a program stand, for findings. */
const PROGRAM: Position = { file: "startGateway", line: 1, column: 1 };

/** An extension changes what clients read and which paths exist: a line of the file turns it on. */
function unlisted(name: string, specifier: string): Fault {
  return {
    message: `The package ${specifier} has the extension ${name} and is installed, but no line of the file turns it on.`,
    fix: `Add it to the list: \`plugins: ["*", "${specifier}"]\`; to leave it out, remove the package.`,
  };
}

function twice(what: string, one: string, other: string, isFound = false): Fault {
  const alias = "install one under another name: npm install other-name@npm:package@version";
  return {
    message: `The ${what} is provided twice, by ${one} and by ${other}.`,
    fix: isFound
      ? `List the packages to load under \`plugins\`, or ${alias}.`
      : `Remove one of the two, or ${alias}.`,
  };
}

async function loadPlugin(
  { specifier, from }: PluginReference,
  timeoutMs: number,
): Promise<LoadedPlugin | Fault> {
  const located = locate(specifier, from);
  if ("message" in located) return located;
  let module: { readonly default?: unknown };
  try {
    module = await importInTime(located.path, timeoutMs);
  } catch (error) {
    return loadFault(specifier, located.path, error);
  }
  const definitions = Array.isArray(module.default)
    ? (module.default as unknown[])
    : [module.default];
  for (const definition of definitions) {
    const fault = definitionFault(specifier, definition);
    if (fault !== undefined) return fault;
  }
  const loaded = {
    specifier,
    version: located.version,
    definitions: definitions as AnyDefinition[],
    url: pathToFileURL(located.path).href,
  };
  return located.alias === undefined ? loaded : underAlias(loaded, located.alias);
}

/** The file whose import names nothing, in Node's words. */
const IMPORTER = / imported from (\/.+)$/;

function loadFault(specifier: string, path: string, error: unknown): Fault {
  const said = errorMessage(error);
  const message = `Plugin ${specifier} cannot be loaded: ${said}`;
  if (
    (error as { readonly code?: unknown } | null)?.code ===
    "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING"
  ) {
    const fix =
      "Compile the package to JavaScript and install the result (npm run build, npm pack): Node does not run TypeScript of an installed package.";
    return { message, fix };
  }
  const files = [...filesOf(pathToFileURL(path).href).keys()];
  const importer = IMPORTER.exec(said)?.[1];
  return { message, fix: `Correct ${loadFaultAt(error, files) ?? importer ?? path}.` };
}

/**
 * A package that npm installed under another name (`npm install
 * anthropic-old@npm:@sluice/provider-anthropic@1.0.0`) goes by that name in YAML, so that two
 * versions of one plugin can serve side by side: the folder's name for a single plugin, and in
 * front of each name for a bundle.
 */
function underAlias(loaded: LoadedPlugin, alias: string): LoadedPlugin | Fault {
  const ownNames = new Map<string, string>();
  const definitions = loaded.definitions.map((definition) => {
    const name = loaded.definitions.length === 1 ? alias : `${alias}-${definition.name}`;
    ownNames.set(`${definition.kind}/${name}`, definition.name);
    return { ...definition, name };
  });
  if (NAME.test(alias)) return { ...loaded, definitions, ownNames };
  return {
    message: `Plugin ${loaded.specifier} is installed under the name ${alias}, which \`use\` cannot name.`,
    fix: "Install it under a name of lower-case letters, digits and hyphens.",
  };
}

/**
 * Imports a module. A top-level await that never ends is a fault of the plugin, not the end of the
 * process.
 */
async function importInTime(
  path: string,
  timeoutMs: number,
): Promise<{ readonly default?: unknown }> {
  registerResolveHook();
  return within(
    timeoutMs,
    import(pathToFileURL(path).href) as Promise<{ readonly default?: unknown }>,
    () => {
      throw new Error(`it was not ready within ${timeoutMs} ms`);
    },
  );
}

function definitionFault(specifier: string, value: unknown): Fault | undefined {
  const definition = value as Partial<AnyDefinition> | null | undefined;
  if (
    typeof definition !== "object" ||
    definition === null ||
    typeof definition.kind !== "string" ||
    !KINDS.has(definition.kind)
  ) {
    return {
      message: `The default export of plugin ${specifier} is not a definition.`,
      fix: "Export the result of defineStep, defineProvider, defineGuardrail, defineFace, defineExtension or defineStore.",
    };
  }
  if (definition.apiVersion !== API_VERSION) {
    return {
      message: `Plugin ${specifier} is written for apiVersion ${String(definition.apiVersion)}, but this engine supports ${API_VERSION}.`,
      fix: "Install a matching version of the plugin or of Sluice.",
    };
  }
  if (
    typeof definition.name !== "string" ||
    typeof definition.create !== "function" ||
    typeof definition.config !== "object"
  ) {
    return {
      message: `The definition in plugin ${specifier} has no name, config or create.`,
      fix: "Use the define functions of @sluice/kit.",
    };
  }
  if (definition.stability !== undefined && !STABILITIES.has(definition.stability)) {
    return {
      message: `\`stability\` of ${definition.kind} ${definition.name} in plugin ${specifier} is ${JSON.stringify(definition.stability)}.`,
      fix: `Write ${[...STABILITIES].join(", ")}.`,
    };
  }
  if (definition.kind === "guardrail" && typeof definition.sample !== "function") {
    return {
      message: `The guardrail ${definition.name} in plugin ${specifier} has no \`sample\`.`,
      fix: "Add `sample: () => text`, with a text that it must not allow.",
    };
  }
  return definition.kind === "step" ? groupFault(specifier, definition) : undefined;
}

/** Members of a step's definition that stand in a group. Outside it they would have no effect. */
const GROUPS: readonly (readonly [member: string, group: string])[] = [
  ...["provides", "requires", "before"].map((member) => [member, "`order`"] as const),
  ...["terminal", "reentrant", "concurrent", "early", "sharesState", "keepsReplies"].map(
    (member) => [member, "`traits`"] as const,
  ),
  ...["guardrails", "names", "largestEntry"].map(
    (member) => [member, "the result of `inspect`"] as const,
  ),
];

function groupFault(specifier: string, definition: Partial<AnyDefinition>): Fault | undefined {
  const found = GROUPS.find(([member]) => Object.hasOwn(definition, member));
  if (found === undefined) return undefined;
  const [member, group] = found;
  return {
    message: `\`${member}\` of step ${definition.name} in plugin ${specifier} stands outside ${group}, where it has no effect.`,
    fix: `Move it into ${group}.`,
  };
}
