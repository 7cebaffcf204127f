/** The options of extensions in gateway.yaml. Each loaded extension has some, if only defaults. */

import type { AnyDefinition } from "@sluice/contract";
import type { Finding } from "../finding.ts";
import { setAtPath, valueAtPath } from "../files/path.ts";
import type { ResolvedDocument } from "../files/references.ts";
import { checkPlugin } from "./plugin-section.ts";

/** Checks the options in place: those of an extension without an entry are filled in. */
export function extensionFaults(
  gateway: ResolvedDocument,
  definitions: ReadonlyMap<string, AnyDefinition>,
): Finding[] {
  const section = valueAtPath(gateway.value, ["extensions"]);
  const written = isSection(section) ? Object.keys(section) : [];
  const loaded = [...definitions.values()].filter(({ kind }) => kind === "extension");
  const names = new Set([...written, ...loaded.map(({ name }) => name)]);
  if (names.size > 0 && !isSection(section)) setAtPath(gateway.value, ["extensions"], {});
  return [...names].flatMap((name) => {
    const path = ["extensions", name];
    if (!written.includes(name)) setAtPath(gateway.value, path, {});
    const value = valueAtPath(gateway.value, path);
    if (typeof value !== "object" || value === null) return [];
    const use = { kind: "extension", name, namePath: path, base: path, value } as const;
    return checkPlugin(gateway, definitions, use);
  });
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
