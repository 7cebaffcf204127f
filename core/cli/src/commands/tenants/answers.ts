/** What commands of tenants print of the gateway's answers. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { printRecord, printTable } from "../../print/records.ts";
import type { AdminOptions } from "../../admin-client.ts";
import type { RecordOptions } from "../../record-options.ts";

/** Options of these commands. */
export type TenantOptions = AdminOptions & RecordOptions & { readonly json?: boolean };

/** Prints an answer as it is with `--json`, else by `print`. */
export function show(options: TenantOptions, answer: unknown, print: () => void): void {
  if (options.json === true) console.log(JSON.stringify(answer, null, 2));
  else print();
}

/** Prints a record, and its warnings apart. */
export function showRecord({ warnings, ...record }: JsonObject): void {
  printRecord(record);
  for (const warning of Array.isArray(warnings) ? warnings : [])
    console.log(`warning: ${String(warning)}`);
}

/** A page of a list, and the option that shows the next one. */
export function showPage(
  columns: Parameters<typeof printTable>[0],
  rows: readonly JsonObject[],
  next: JsonValue | undefined,
): void {
  printTable(columns, rows);
  if (typeof next === "string") console.log(`more with --cursor ${next}`);
}

/** What became of the keys of something that is gone. */
export function keysLine(answer: JsonObject): string {
  for (const done of ["blocked", "deleted", "moved"]) {
    const total = answer[`${done}_keys_total`];
    if (typeof total === "number" && total > 0)
      return ` ${total} ${total === 1 ? "key is" : "keys are"} ${done}.`;
  }
  return "";
}

/** The query of the options that were given, by the names of the API. */
export function queryOf(
  options: TenantOptions,
  names: Readonly<Record<string, string>>,
  fixed: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(fixed);
  for (const [option, name] of Object.entries(names)) {
    const value = options[option];
    if (typeof value === "string") query.set(name, value);
  }
  return String(query);
}
