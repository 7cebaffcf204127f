/**
 * From a LiteLLM configuration to files of ours, and a list of what has no equivalent. Pure:
 * nothing is read or written.
 */

import { gatewayFile } from "./gateway-file.ts";
import { importGuardrails } from "./guardrails.ts";
import { importModels } from "./models.ts";
import { pipelineFiles } from "./pipeline-files.ts";
import { ImportedProviders } from "./providers.ts";
import { dropsParams, importSettings } from "./settings.ts";
import { defaultTimeouts } from "./try-timeouts.ts";
import { type ImportNote, membersOf, readSource } from "./source.ts";

/** What an import comes to. */
export interface Imported {
  /** Texts by their paths below the folder. */
  readonly files: Readonly<Record<string, string>>;
  /** In the order of the lines of the imported file. */
  readonly notes: readonly ImportNote[];
  readonly models: number;
  readonly providers: number;
}

/** Sections that are read elsewhere. */
const READ = new Set([
  "model_list",
  "litellm_settings",
  "router_settings",
  "general_settings",
  "guardrails",
  "credential_list",
]);

/**
 * Imports a file's text; `from` is its name for comments. Throws an Error that says the line of a
 * fault.
 */
export function importLitellm(text: string, from: string): Imported {
  const source = readSource(text);
  const providers = new ImportedProviders(source, defaultTimeouts(source));
  const models = importModels(source, providers, dropsParams(source));
  const settings = importSettings(source, models);
  const guardrails = importGuardrails(source);
  for (const section of Object.keys(source.value)) {
    if (section === "environment_variables") {
      const names = Object.keys(membersOf(source.value[section])).join(", ");
      source.note("todo", [section], `export these before the start: ${names}`);
    } else if (section === "include")
      source.note("todo", [section], "import the files that it names one by one");
    else if (!READ.has(section)) source.note("missing", [section], "nothing here is like it");
  }
  const notes = source.notes.toSorted((left, right) => left.line - right.line);
  const parts = { from, settings, guardrails, models, providers: providers.list };
  const pipelines = Object.entries(pipelineFiles(settings, guardrails));
  return {
    files: {
      "config/gateway.yaml": gatewayFile(parts),
      ...Object.fromEntries(pipelines.map(([name, content]) => [`pipelines/${name}`, content])),
      "import.md": notesFile(notes, from),
    },
    notes,
    models: models.length,
    providers: providers.list.length,
  };
}

const TITLES: readonly (readonly [kind: ImportNote["kind"], title: string])[] = [
  ["todo", "To do"],
  ["missing", "Has no equivalent"],
  ["changed", "Is not quite the same"],
];

function notesFile(notes: readonly ImportNote[], from: string): string {
  const lines = [`# Imported from ${from}`, ""];
  for (const [kind, title] of TITLES) {
    const own = notes.filter((note) => note.kind === kind);
    if (own.length === 0) continue;
    lines.push(`## ${title}`, "", "| Line | Setting | Why |", "|---|---|---|");
    for (const { line, setting, why } of own)
      lines.push(`| ${line} | \`${setting}\` | ${why.replaceAll("|", "\\|")} |`);
    lines.push("");
  }
  if (notes.length === 0) lines.push("Everything was imported.", "");
  return lines.join("\n");
}
