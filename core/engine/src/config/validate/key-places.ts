/**
 * Where a key that is unknown in one place belongs: elsewhere in the file, or in another command.
 */

import type { JsonSchema } from "@sluice/contract";
import type { Path } from "../files/document.ts";
import { listOf } from "./wording.ts";

/**
 * Keys that other gateways have, or that are made elsewhere, by their names at the top of
 * gateway.yaml.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  steps: "write it in a pipeline file: `pipelines:` names their folder",
  routes: "write it in a pipeline file: `pipelines:` names their folder",
};

/** Sections of a file of LiteLLM's. */
const LITELLM = ["model_list", "litellm_settings", "router_settings", "general_settings"];

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
