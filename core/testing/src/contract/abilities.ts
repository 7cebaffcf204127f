/** What a provider can do, found by asking it: the table of its README. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { JsonObject, Provider, ProviderRequest } from "@sluice/contract";
import { PARAMETERS } from "@sluice/kit/openai";
import { ContractFault } from "./fault.ts";
import { fieldRule } from "@sluice/kit/internals";
import { settleFields } from "@sluice/runtime/dialect";
import {
  BLOCKS,
  OTHER_TOOL,
  PARAMETER_VALUES,
  TOOL_CHOICES,
  WEATHER_TOOL,
} from "./odd-requests.ts";
import { attempted } from "./outcome.ts";
import { withBody } from "./subject.ts";

const BEGIN =
  "<!-- what it can do: made by the contract suite; empty this block to have it written again -->";
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
        taken(
          Object.entries(TOOL_CHOICES),
          (extra) => fate(provider, request, { tools: [WEATHER_TOOL], ...extra }) !== "refused",
        ),
      ]);
    rows.push([
      "Blocks",
      taken(
        Object.entries(BLOCKS),
        (block) =>
          fate(provider, request, {
            messages: [{ role: "user", content: [{ type: "text", text: "Look." }, block] }],
          }) === "taken",
      ),
    ]);
    rows.push(["Parameters", namesThat("taken", provider, request)]);
    rows.push(["Dropped and listed", namesThat("dropped", provider, request)]);
    rows.push(["Refused", namesThat("refused", provider, request)]);
  }
  return ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join(
    "\n",
  );
}

/** How a request fares: as it is, without a field that is listed as dropped, or not at all. */
function fate(
  provider: Provider,
  request: ProviderRequest,
  extra: JsonObject,
): "taken" | "dropped" | "refused" {
  const asked = withBody(request, { ...request.document.value, ...extra });
  const { operation, target } = asked;
  const { capabilities } = provider;
  const terms = {
    operation,
    provider: target.provider,
    capabilities,
    model: target.model,
    isDropping: false,
  };
  const settled = attempted(() => settleFields(asked.document, terms));
  if ("error" in settled) return "refused";
  const made = attempted(() => provider.encode({ ...asked, document: settled.value.document }));
  if ("error" in made) return isHint(made.error.param) ? "dropped" : "refused";
  const isDropped = settled.value.dropped.length > 0 || (made.value.dropped ?? []).length > 0;
  return isDropped ? "dropped" : "taken";
}

function isHint(param: string | undefined): boolean {
  return param !== undefined && fieldRule("chat", param)?.otherwise === "hint";
}

/** A request that asks for each parameter. */
function probes(): readonly (readonly [string, JsonObject])[] {
  const { function: definition } = WEATHER_TOOL;
  const functions = [definition as JsonObject];
  const tools = [WEATHER_TOOL];
  const special: Readonly<Record<string, JsonObject>> = {
    tools: { tools },
    tool_choice: { tools, tool_choice: "required" },
    parallel_tool_calls: { tools: [WEATHER_TOOL, OTHER_TOOL], parallel_tool_calls: false },
    functions: { functions },
    function_call: { functions, function_call: { name: "get_weather" } },
    top_logprobs: { logprobs: true, top_logprobs: 3 },
  };
  return (PARAMETERS.chat ?? []).map((name) => [
    name,
    special[name] ?? { [name]: PARAMETER_VALUES[name] ?? null },
  ]);
}

function namesThat(
  is: "taken" | "dropped" | "refused",
  provider: Provider,
  request: ProviderRequest,
): string {
  const names = probes().filter(([, extra]) => fate(provider, request, extra) === is);
  return names.length === 0 ? "none" : names.map(([name]) => `\`${name}\``).join(", ");
}

function taken<T>(
  entries: readonly (readonly [string, T])[],
  isTaken: (value: T, name: string) => boolean,
): string {
  const names = entries
    .filter(([name, value]) => isTaken(value, name))
    .map(([name]) => name.replace(/^tool_choice /, ""));
  return names.length === 0 ? "none" : names.join(", ");
}

function yes(is: boolean): string {
  return is ? "yes" : "no";
}

/**
 * Holds the table of a README against what the provider can do. A block that is empty is filled.
 * Throws when the README has no block, or another table.
 */
export function checkReadme(path: string, table: string): void {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END, from);
  if (from < 0 || to < 0) throw new ContractFault(`${path} needs two lines: ${BEGIN} and ${END}`);
  const held = text.slice(from + BEGIN.length, to).trim();
  if (held === "")
    writeFileSync(path, `${text.slice(0, from + BEGIN.length)}\n\n${table}\n\n${text.slice(to)}`);
  else if (held !== table)
    throw new ContractFault(`The table in ${path} is not what the provider can do.`, table, held);
}
