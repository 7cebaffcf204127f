/** What a provider can do, found by asking it: the table of its README. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { JsonObject, Provider, ProviderRequest } from "@sluice/spec";
import { PARAMETERS } from "../../openai/parameters.ts";
import { ContractFault } from "./fault.ts";
import { BLOCKS, PARAMETER_VALUES, TOOL_CHOICES, WEATHER_TOOL } from "./odd-requests.ts";
import { attempted } from "./outcome.ts";
import { withBody } from "./subject.ts";

const BEGIN = "<!-- what it can do: made by the contract suite; empty this block to have it written again -->";
const END = "<!-- end -->";

/** The table, in Markdown. `request` is a small chat request for the provider's usual model. */
export function abilityTable(provider: Provider, request: ProviderRequest): string {
  const { capabilities } = provider;
  const { operations, streaming, tools } = capabilities;
  const rows: [string, string][] = [["Operations", operations.join(", ")]];
  if (operations.includes("chat")) {
    rows.push(["Streams", yes(streaming)], ["Tools", yes(tools)]);
    if (tools)
      rows.push([
        "Choice of tools",
        taken(Object.entries(TOOL_CHOICES), (extra) => can(provider, request, { tools: [WEATHER_TOOL], ...extra })),
      ]);
    rows.push([
      "Blocks",
      taken(Object.entries(BLOCKS), (block) =>
        can(provider, request, { messages: [{ role: "user", content: [{ type: "text", text: "Look." }, block] }] }),
      ),
    ]);
    rows.push([
      "Parameters",
      taken(
        Object.entries(PARAMETER_VALUES).filter(([name]) => isOffered(provider, name)),
        (value, name) => can(provider, request, { [name]: value }),
      ),
    ]);
    rows.push(["Refused parameters", refused(provider, request)]);
  }
  return ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n");
}

function isOffered({ capabilities }: Provider, name: string): boolean {
  return capabilities.parameters === undefined || capabilities.parameters.includes(name);
}

function refused(provider: Provider, request: ProviderRequest): string {
  const names = (PARAMETERS.chat ?? []).filter((name) => {
    const value = PARAMETER_VALUES[name];
    return !isOffered(provider, name) || (value !== undefined && !can(provider, request, { [name]: value }));
  });
  return names.length === 0 ? "none" : names.map((name) => `\`${name}\``).join(", ");
}

function can(provider: Provider, request: ProviderRequest, extra: JsonObject): boolean {
  return "value" in attempted(() => provider.encode(withBody(request, { ...request.document.value, ...extra })));
}

function taken<T>(entries: readonly (readonly [string, T])[], isTaken: (value: T, name: string) => boolean): string {
  const names = entries.filter(([name, value]) => isTaken(value, name)).map(([name]) => name.replace(/^tool_choice /, ""));
  return names.length === 0 ? "none" : names.join(", ");
}

function yes(is: boolean): string {
  return is ? "yes" : "no";
}

/**
 * Holds the table of a README against what the provider can do. A block that is empty is filled. Throws when the README has no
 * block, or another table.
 */
export function checkReadme(path: string, table: string): void {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END, from);
  if (from < 0 || to < 0) throw new ContractFault(`${path} needs two lines: ${BEGIN} and ${END}`);
  const held = text.slice(from + BEGIN.length, to).trim();
  if (held === "") writeFileSync(path, `${text.slice(0, from + BEGIN.length)}\n\n${table}\n\n${text.slice(to)}`);
  else if (held !== table) throw new ContractFault(`The table in ${path} is not what the provider can do.`, table, held);
}
