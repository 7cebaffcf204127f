/**
 * Which edits need the key again. A configuration decides where the credentials of providers are
 * sent, which code runs and who is let in: a session alone, which its holder may have left open, is
 * not enough for that.
 */

import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@sluice/kit";
import { valueAtPath } from "../../../../config/files/path.ts";
import type { Reference, ResolvedDocument } from "../../../../config/files/references.ts";
import { isBelow, secretFolders } from "../../../../config/files/stored/stored-rules.ts";
import type { Finding } from "../../../../config/finding.ts";
import type { OpenedConfig } from "../../../../config/load.ts";
import type { Effect } from "../../../../generation/diff/effects/effect.ts";

/** Sections that hold addresses, credentials, code or rules. */
const SECTIONS = [
  "plugins",
  "providers",
  "guardrails",
  "extensions",
  "policies",
  "server",
  "store",
  "shared",
  "config",
  "pipelines",
  "prices",
] as const;

/** Keys whose values are addresses. */
const ADDRESS = /(?:^|_)(?:url|uri|host|endpoint|address|origin)s?$/i;

/** Why an edit needs the key again; an empty list: it needs none. */
export function reasonsToConfirm(
  before: OpenedConfig,
  after: OpenedConfig,
  effects: readonly Effect[],
): readonly string[] {
  const dangers = effects.filter(({ risk }) => risk === "danger");
  const changed = SECTIONS.filter((name) => !isSameSection(name, before, after));
  const known = addressesOf(before);
  const isNewAddress = [...addressesOf(after)].some((address) => !known.has(address));
  return [
    ...dangers.map(({ about, message }) => `${about}: ${message}`),
    ...changed.map((name) => `the section ${name} changes`),
    ...(isNewAddress ? ["an address changes"] : []),
    ...newReferences(before, after).map(({ written }) => `${written} is used`),
  ];
}

/** Sections whose secrets are the gateway's own. */
const OWN_SECTIONS: readonly string[] = ["server", "store", "shared"];

/**
 * Findings about references that no edit over the admin listener may add: those to secrets of the
 * gateway itself, and to files outside of the folders of secrets. An administrator may send a
 * credential to an address, and must not get the master key by that.
 */
export function ownSecretFindings(before: OpenedConfig, after: OpenedConfig): readonly Finding[] {
  const own = new Set(
    (before.gateway?.references ?? [])
      .filter(({ path }) => OWN_SECTIONS.includes(String(path[0])))
      .map(({ name }) => name),
  );
  const folders = secretFolders(before.gateway, dirname(before.path));
  return newReferences(before, after).flatMap(({ document, path, name, written, file }) => {
    const fault =
      file !== undefined
        ? folders.some((folder) => isBelow(file, folder))
          ? undefined
          : {
              what: "is in none of the folders of secrets",
              fix: "name its folder in `config.secrets`",
            }
        : name.startsWith("env:SLUICE_") || own.has(name)
          ? { what: "is a secret of the gateway itself", fix: "use a variable of its own" }
          : undefined;
    if (fault === undefined) return [];
    const message = `${written} ${fault.what}, and an edit over the admin listener adds none of these`;
    return [
      {
        at: document.document.valueAt(path),
        message,
        fix: `${fault.fix}, or edit the file on the machine`,
      },
    ];
  });
}

function isSameSection(name: string, before: OpenedConfig, after: OpenedConfig): boolean {
  const [old, now] = [before, after].map(({ gateway }) =>
    valueAtPath(gateway?.document.value, [name]),
  );
  return isDeepStrictEqual(old, now);
}

function documentsOf({ gateway, pipelines, prices }: OpenedConfig): readonly ResolvedDocument[] {
  return [gateway, ...pipelines, prices].filter((document) => document !== undefined);
}

type Used = Reference & { readonly document: ResolvedDocument };

/** References that the files before do not have at such a place. */
function newReferences(before: OpenedConfig, after: OpenedConfig): readonly Used[] {
  const known = new Set(documentsOf(before).flatMap(({ references }) => references.map(useOf)));
  return documentsOf(after).flatMap((document) =>
    document.references
      .filter((reference) => !known.has(useOf(reference)))
      .map((reference) => ({ ...reference, document })),
  );
}

/** A reference and its place, without the numbers of list entries. */
function useOf({ name, path }: Reference): string {
  return JSON.stringify([name, ...path.filter((part) => typeof part === "string")]);
}

/** Every address as it is written, with its key. */
function addressesOf(opened: OpenedConfig): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { document } of documentsOf(opened)) collect(document.value, "", found);
  return found;
}

function collect(value: unknown, key: string, found: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collect(item, key, found);
  else if (isObject(value))
    for (const [name, member] of Object.entries(value)) collect(member, name, found);
  else if (typeof value === "string" && ADDRESS.test(key)) found.add(`${key} ${value}`);
}
