/** `sluice init`: a commented gateway file to begin with. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { type Command, Option } from "commander";
import { errorMessage } from "@sluice/contract";
import { CommandError, EXIT } from "../exit.ts";
import type { Policy, ShippedProvider } from "../init/starter.ts";

interface Options {
  readonly out: string;
  readonly provider: readonly string[];
  readonly shared?: "memory" | "redis";
  readonly policy?: Policy | "none";
  readonly from?: string;
}

/** Where an installation has the JSON Schema for editors. */
const SCHEMA = "node_modules/@sluice/engine/config/schema/gateway.schema.json";

/** Adds the command. */
export function addInitCommand(command: Command): void {
  command
    .description("write a commented gateway file, with the providers whose variables are set")
    .argument("[file]", "with --from: the file to convert")
    .option("--out <file>", "where to write; an existing file stays", "gateway.yaml")
    .option(
      "--provider <name>",
      "a provider in force, also without its variable; may be repeated",
      (name: string, names: readonly string[]) => [...names, name],
      [],
    )
    .addOption(
      new Option("--shared <state>", "where limits live; redis where REDIS_URL is set").choices([
        "memory",
        "redis",
      ]),
    )
    .addOption(
      new Option("--policy <policy>", "an example of a guardrail in force").choices([
        "none",
        "secrets",
        "pii",
      ]),
    )
    .addOption(
      new Option("--from <gateway>", "convert the configuration of another gateway").choices([
        "litellm",
      ]),
    )
    .action(init);
}

/** Options that say what a starter holds; a converted file decides that itself. */
const OF_A_STARTER = ["out", "provider", "shared", "policy"];

async function init(file: string | undefined, options: Options, command: Command): Promise<void> {
  const { out, provider: named, shared, policy, from } = options;
  if (from !== undefined) {
    if (file === undefined)
      throw new CommandError(
        EXIT.usage,
        `--from ${from} needs a file: sluice init --from ${from} config.yaml.`,
      );
    const other = OF_A_STARTER.find((name) => command.getOptionValueSource(name) === "cli");
    if (other !== undefined)
      throw new CommandError(
        EXIT.usage,
        `--from ${from} takes no --${other}: the file decides what is written. sluice import ${from} ${file} has --out for a folder, and --overwrite.`,
      );
    const { runImport } = await import("./import.ts");
    await runImport(file, { out: "." });
    return;
  }
  if (file !== undefined)
    throw new CommandError(
      EXIT.usage,
      `${file}: a file is converted with --from litellm. --out ${file} writes there.`,
    );
  if (existsSync(out))
    throw new CommandError(
      EXIT.usage,
      `${out} is there already, and nothing is overwritten: name another with --out.`,
    );
  const { shippedProviders, starter } = await import("../init/starter.ts");
  const shipped = shippedProviders();
  const unknown = named.find((name) => !shipped.some((provider) => provider.name === name));
  if (unknown !== undefined)
    throw new CommandError(
      EXIT.usage,
      `There is no provider ${unknown}: choose of ${shipped.map(({ name }) => name).join(", ")}.`,
    );
  const isChosen = (provider: ShippedProvider): boolean =>
    named.includes(provider.name) ||
    (provider.models.length > 0 && provider.variables.every(isSet));
  const providers = shipped.filter(isChosen);
  const text = starter({
    providers,
    others: shipped.filter((provider) => !isChosen(provider)),
    hasRedis: shared === undefined ? isSet("REDIS_URL") : shared === "redis",
    policy: policy === "none" ? undefined : policy,
    schema: schemaFrom(out),
  });
  write(out, text);
  const unset = providers.flatMap(({ variables }) => variables.filter((name) => !isSet(name)));
  console.log(
    [
      `${out}: ${providers.map(({ name }) => name).join(", ")}. The other providers are comments in it.`,
      ...unset.map((name) => `  set ${name} before the start`),
      "",
      "Next:",
      "  sluice check    # reports every fault",
      "  sluice serve    # prints a master key once, and a request to paste",
    ].join("\n"),
  );
}

/** Writes a file that is not there, a link to nowhere included. */
function write(out: string, text: string): void {
  try {
    mkdirSync(dirname(out), { recursive: true });
    writeFileSync(out, text, { flag: "wx" });
  } catch (error) {
    throw new CommandError(EXIT.usage, `${out} cannot be written: ${errorMessage(error)}`);
  }
}

function isSet(name: string): boolean {
  return (process.env[name] ?? "") !== "";
}

function schemaFrom(out: string): string | undefined {
  if (!existsSync(SCHEMA)) return undefined;
  const path = relative(dirname(out), SCHEMA).replaceAll("\\", "/");
  return path.startsWith(".") ? path : `./${path}`;
}
