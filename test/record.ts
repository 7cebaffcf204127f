/**
 * `RECORD=1 npm run record -- <package> <table> [stream] [option=value …]`: what a real provider
 * answers to the request of a table of cases, stored as a case of it, redacted. A package is a
 * folder of plugins/, or the path of one elsewhere. A table is `text`, or `groq/chat` in a folder.
 * A value may be `env:NAME`. Costs what the request costs.
 */

import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { recordCase } from "@sluice/testing";
import type { ProviderDefinition } from "@sluice/contract";

const MAX_MS = 120_000;
const USAGE =
  "RECORD=1 npm run record -- provider-anthropic text [stream] model=claude-sonnet-4-5 api_key=env:ANTHROPIC_API_KEY [use=anthropic]";

const [name, table, ...more] = process.argv.slice(2);
if (process.env.RECORD !== "1" || name === undefined || table === undefined) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const given = more
    .filter((word) => word.includes("="))
    .map((word): [string, string] => [word.slice(0, word.indexOf("=")), valueOf(word)]);
  const { model = "", use, ...config } = Object.fromEntries(given);
  const folder = name.includes("/")
    ? resolve(name)
    : resolve(import.meta.dirname, "../plugins", name);
  const { default: exported } = (await import(
    pathToFileURL(join(folder, "src/index.ts")).href
  )) as {
    default: ProviderDefinition<never> | ProviderDefinition<never>[];
  };
  const definitions = Array.isArray(exported) ? exported : [exported];
  const definition = definitions.find((one) => use === undefined || one.name === use);
  if (definition === undefined)
    throw new Error(`${name} has ${definitions.map((one) => one.name).join(" and ")}, not ${use}.`);
  const fixtures = pathToFileURL(join(folder, "fixtures/"));
  const signal = AbortSignal.timeout(MAX_MS);
  const options = { fixtures, name: table, model, config, stream: more.includes("stream"), signal };
  const recorded = await recordCase(definition, options);
  console.log(
    `${recorded.name}: ${recorded.path}\nRead it, then run the package's contract: it writes the expected output.`,
  );
}

function valueOf(word: string): string {
  const value = word.slice(word.indexOf("=") + 1);
  if (!value.startsWith("env:")) return value;
  const found = process.env[value.slice(4)];
  if (found === undefined || found === "") throw new Error(`${value.slice(4)} is not set.`);
  return found;
}
