/** `sluice import litellm`: a configuration of LiteLLM as files of ours. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Command } from "commander";
import { errorMessage } from "@sluice/contract";
import { counted } from "../counted.ts";
import { CommandError, EXIT } from "../exit.ts";
import type { Imported } from "../litellm/import-litellm.ts";

/** Options of the command. */
export interface ImportOptions {
  readonly out: string;
  readonly overwrite?: boolean;
  readonly json?: boolean;
}

/** Adds the command. */
export function addImportCommand(command: Command): void {
  command
    .command("litellm")
    .description(
      "a LiteLLM config.yaml as gateway file and pipelines, with a list of what has no equivalent",
    )
    .argument("<file>", "LiteLLM's config.yaml")
    .option("--out <folder>", "where to write", "sluice")
    .option("--overwrite", "replace files that are there")
    .option("--json", "print what was imported and noted, as JSON")
    .action(runImport);
}

/** Writes the files of an imported configuration, and checks them. */
export async function runImport(
  file: string,
  { out, overwrite = false, json = false }: ImportOptions,
): Promise<void> {
  const imported = await read(file);
  const paths = Object.keys(imported.files).map((name) => join(out, name));
  const taken = paths.filter((path) => existsSync(path));
  if (taken.length > 0 && !overwrite) {
    throw new CommandError(
      EXIT.usage,
      `${taken.join(", ")} is there already: name another folder with --out, or say --overwrite.`,
    );
  }
  for (const [name, text] of Object.entries(imported.files)) {
    const path = join(out, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const config = join(out, "config/gateway.yaml");
  const [{ checkConfig }, { formatFinding }] = await Promise.all([
    import("@sluice/engine/check"),
    import("@sluice/engine/config"),
  ]);
  const { findings, snapshot } = await checkConfig({
    path: config,
    cwd: process.cwd(),
    environment: process.env,
  });
  const { notes, models, providers } = imported;
  if (json)
    console.log(
      JSON.stringify(
        { config, models, providers, notes, findings: findings.map(formatFinding) },
        null,
        2,
      ),
    );
  else {
    for (const { line, setting, why, kind } of notes)
      console.log(`${file}:${line}  ${kind}  ${setting}: ${why}`);
    for (const finding of findings) console.log(formatFinding(finding));
    const imported = `${counted(models, "model")}, ${counted(providers, "provider")}`;
    console.log(
      `${imported} imported to ${out}; ${counted(notes.length, "note")}, also in ${join(out, "import.md")}`,
    );
    console.log(
      findings.length === 0
        ? `ok: sluice serve --config ${config}`
        : `sluice check --config ${config} has findings`,
    );
  }
  if (snapshot === undefined) process.exitCode = EXIT.findings;
}

async function read(file: string): Promise<Imported> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(EXIT.usage, `${file} cannot be read: ${errorMessage(error)}`);
  }
  const { importLitellm } = await import("../litellm/import-litellm.ts");
  try {
    return importLitellm(text, basename(file));
  } catch (error) {
    throw new CommandError(EXIT.findings, `${file}: ${errorMessage(error)}`);
  }
}
