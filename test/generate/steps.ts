/**
 * Writes what the definitions of the steps say into plugins/standard: the table of its README, and
 * the head and the options of each page in `docs`. `node test/generate/steps.ts`. What stands
 * outside of the two marks is written by hand.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, OrderRule, StepDefinition } from "@sluice/contract";
import steps from "../../plugins/standard/src/index.ts";

const FOLDER = join(import.meta.dirname, "../../plugins/standard");
const BEGIN = "<!-- generated -->";
const END = "<!-- /generated -->";
const NOTE =
  "<!-- Made by `node test/generate/steps.ts` from the step's definition. Do not edit. -->";

/** A page with its generated part. */
export interface StepPage {
  readonly path: string;
  /** The text with a fresh generated part. Throws an `Error` when the page has no marks. */
  readonly fresh: () => string;
}

/** The README and the page of each step. */
export const STEP_PAGES: readonly StepPage[] = [
  { path: join(FOLDER, "README.md"), fresh: () => filled(join(FOLDER, "README.md"), indexTable()) },
  ...steps.map((step) => {
    const path = join(FOLDER, "docs", `${step.name}.md`);
    return {
      path,
      fresh: () =>
        filled(path, `${headOf(step as StepDefinition)}\n${optionsOf(step as StepDefinition)}`),
    };
  }),
];

function filled(path: string, generated: string): string {
  const text = readFileSync(path, "utf8");
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error(`${path} has no line ${BEGIN} and ${END}.`);
  return `${before}${BEGIN}\n${NOTE}\n\n${generated}\n${END}${after}`;
}

function indexTable(): string {
  const rows = steps.map((step) => [
    `[\`${step.name}\`](docs/${step.name}.md)`,
    step.stability,
    step.summary,
    placeOf(step as StepDefinition),
  ]);
  return table(["Step", "Stability", "What it does", "Place"], rows);
}

function headOf(step: StepDefinition): string {
  const rules = [
    ...(step.order?.requires ?? []).map(
      (rule) => `- After a step that provides \`${rule.capability}\`: ${rule.reason}.`,
    ),
    ...(step.order?.before ?? []).map(
      (rule) => `- Before every step that provides \`${rule.capability}\`: ${rule.reason}.`,
    ),
    ...(step.traits?.terminal === true ? ["- Last in its pipeline."] : []),
    ...(step.order?.provides === undefined
      ? []
      : [`- Provides ${step.order.provides.map((word) => `\`${word}\``).join(", ")}.`]),
    ...(step.operations === undefined
      ? []
      : [`- For pipelines of ${step.operations.map((word) => `\`${word}\``).join(", ")}.`]),
  ];
  return `${step.summary} Stability: ${step.stability}.\n\n## Place in a pipeline\n\n${rules.join("\n")}\n`;
}

/** `after identity, before cached_reply`: the place of a step in few words. */
function placeOf({
  order: { requires = [], before = [] } = {},
  traits: { terminal = false } = {},
}: StepDefinition): string {
  const words = (rules: readonly OrderRule[]): string =>
    rules.map(({ capability }) => `\`${capability}\``).join(", ");
  const parts = [
    requires.length === 0 ? "" : `after ${words(requires)}`,
    before.length === 0 ? "" : `before ${words(before)}`,
    terminal ? "last" : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "first" : parts.join("; ");
}

function optionsOf(step: StepDefinition): string {
  const rows = rowsOf(step.config, "");
  if (rows.length === 0) return "## Options\n\nNone.\n";
  return `## Options\n\n${table(["Option", "Type", "Default", "Meaning"], rows)}\n`;
}

/**
 * A row for each option, those of objects and of lists of objects by their paths: `windows[].per`.
 */
function rowsOf(schema: JsonObject, prefix: string): readonly (readonly string[])[] {
  const required = new Set((schema.required ?? []) as readonly string[]);
  return Object.entries((schema.properties ?? {}) as Readonly<Record<string, JsonObject>>).flatMap(
    ([name, option]) => {
      const path = `${prefix}${name}`;
      const row = [
        `\`${path}\``,
        typeOf(option),
        defaultOf(option, required.has(name)),
        String(option.description ?? ""),
      ];
      return [row, ...nestedRows(option, path)];
    },
  );
}

function nestedRows(option: JsonObject, path: string): readonly (readonly string[])[] {
  const items = option.items as JsonObject | undefined;
  const values = option.additionalProperties as JsonObject | boolean | undefined;
  return [
    ...(option.properties === undefined ? [] : rowsOf(option, `${path}.`)),
    ...(items?.properties === undefined ? [] : rowsOf(items, `${path}[].`)),
    ...(typeof values === "object" && values.properties !== undefined
      ? rowsOf(values, `${path}.*.`)
      : []),
  ];
}

function typeOf(option: JsonObject): string {
  const words = option.enum as readonly unknown[] | undefined;
  if (words !== undefined) return words.map((word) => `\`${String(word)}\``).join(", ");
  if (option.format === "duration" || option.format === "size") return option.format;
  if (typeof option.pattern === "string" && option.pattern.endsWith("%$")) return "percentage";
  if (option.type === "array") return listOf(option.items as JsonObject);
  if (option.type === "integer" || option.type === "number")
    return `${option.type}${rangeOf(option)}`;
  return String(option.type ?? "any");
}

function listOf(items: JsonObject): string {
  return `list of ${items.enum === undefined ? `${String(items.type)}s` : typeOf(items)}`;
}

function rangeOf({ minimum, maximum }: JsonObject): string {
  const format = (value: unknown): string => Number(value).toLocaleString("en-US");
  if (minimum === undefined) return maximum === undefined ? "" : ` up to ${format(maximum)}`;
  return maximum === undefined
    ? ` from ${format(minimum)}`
    : `, ${format(minimum)} to ${format(maximum)}`;
}

function defaultOf(option: JsonObject, isRequired: boolean): string {
  if (isRequired) return "required";
  const value = option.default;
  if (value === undefined) return "none";
  if (Array.isArray(value))
    return value.length === 0 ? "none" : sameAsAll(option, value) ? "all" : code(value);
  if (typeof value === "object" && value !== null)
    return option.properties === undefined ? objectDefault(value) : "see below";
  return `\`${String(value)}\``;
}

function objectDefault(value: object): string {
  return Object.keys(value).length === 0 ? "none" : code(value);
}

function sameAsAll(option: JsonObject, value: readonly unknown[]): boolean {
  const all = (option.items as JsonObject | undefined)?.enum as readonly unknown[] | undefined;
  return all !== undefined && all.length === value.length;
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [
    head,
    head.map(() => "---"),
    ...rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|"))),
  ];
  return cells.map((row) => `| ${row.join(" | ")} |`).join("\n");
}

if (import.meta.main) for (const { path, fresh } of STEP_PAGES) writeFileSync(path, fresh());
