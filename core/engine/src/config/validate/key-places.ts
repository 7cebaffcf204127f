/**
 * Where a key that is unknown in one place belongs: elsewhere in the file, or in another command.
 */

import type { JsonSchema } from "@sluice/contract";
import type { Path } from "../files/document.ts";
import { listOf } from "./wording.ts";

/** Sections of a file of LiteLLM's. */
const LITELLM = ["model_list", "litellm_settings", "router_settings", "general_settings"];

/**
 * Keys that other gateways have, or that are made elsewhere, by their names at the top of
 * gateway.yaml.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  steps: "write it in a pipeline file: `pipelines:` names their folder",
  routes: "write it in a pipeline file: `pipelines:` names their folder",
  ...Object.fromEntries(
    LITELLM.map((name) => [
      name,
      "it is a section of LiteLLM: `sluice import litellm FILE` converts such a file",
    ]),
  ),
  master_key: "set the variable SLUICE_MASTER_KEY",
  database_url: 'write `store: { use: postgres, url: "${env:DATABASE_URL}" }`',
};

/** Keys of LiteLLM and of SDKs, and those that stand for them where the section has them. */
const OTHER_NAMES: Readonly<Record<string, readonly [here: string, fix: string]>> = {
  api_base: ["base_url", "write `base_url` in its place"],
  api_url: ["base_url", "write `base_url` in its place"],
  url: ["base_url", "write `base_url` in its place"],
  endpoint_url: ["base_url", "write `base_url` in its place"],
  input_cost_per_token: [
    "price",
    "write `price: { input: …, output: … }` in US dollars per million tokens",
  ],
  output_cost_per_token: [
    "price",
    "write `price: { input: …, output: … }` in US dollars per million tokens",
  ],
  order: ["priority", "write `priority`, with `balance: priority` at the model"],
  max_parallel_requests: ["max_parallel", "write `max_parallel` in its place"],
  context_window_fallbacks: ["fallbacks", "write `fallbacks: { context_window: […] }`"],
  content_policy_fallbacks: ["fallbacks", "write `fallbacks: { content_policy: […] }`"],
  litellm_params: ["targets", "write `targets: [{ provider: …, model: … }]`"],
  model_info: ["info", "write `info` in its place"],
  key_alias: ["alias", "write `alias` in its place"],
};

/** What to write for a key under another name, where its section knows that. */
export function otherName(key: string, known: readonly string[]): string | undefined {
  if (!Object.hasOwn(OTHER_NAMES, key)) return undefined;
  const [here, fix] = OTHER_NAMES[key] ?? [];
  return here !== undefined && known.includes(here) ? fix : undefined;
}

/** Whether a gateway file is one of LiteLLM's; the section that says so. */
export function litellmSection(gateway: unknown): string | undefined {
  if (typeof gateway !== "object" || gateway === null || Object.hasOwn(gateway, "version"))
    return undefined;
  return LITELLM.find((name) => Object.hasOwn(gateway, name));
}

/**
 * What to do about an unknown key of a file, by the file's schema: name the sections that have it.
 */
export function elsewhereIn(schema: JsonSchema): (path: Path) => string | undefined {
  let places: ReadonlyMap<string, readonly string[]> | undefined;
  return (path) => {
    const key = String(path.at(-1));
    if (path.length === 1 && Object.hasOwn(ELSEWHERE, key)) return ELSEWHERE[key];
    const found = (places ??= placesOf(schema)).get(key) ?? [];
    if (found.length === 0 || found.length > MAX_PLACES) return undefined;
    return `move it: \`${key}\` belongs ${listOf(found)}`;
  };
}

/** A key of more places is a common word, and no hint. */
const MAX_PLACES = 3;

interface View {
  readonly properties?: Readonly<Record<string, View>>;
  readonly items?: View;
}

function placesOf(schema: JsonSchema): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  const visit = (view: View, where: string): void => {
    for (const [key, below] of Object.entries(view.properties ?? {})) {
      places.set(key, [...(places.get(key) ?? []), where]);
      visit(below, `under \`${key}\``);
      if (below.items !== undefined) visit(below.items, `under an entry of \`${key}\``);
    }
  };
  visit(schema as View, "at the top of the file");
  return places;
}
