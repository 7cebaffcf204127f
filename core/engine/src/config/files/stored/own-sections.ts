/**
 * A gateway file in two parts: the sections of this machine on disk, and all others from the store.
 * Together they are one document, in which every place is found.
 */

import { isObject } from "@sluice/kit";
import type { Finding } from "../../finding.ts";
import type { ConfigDocument, Path } from "../document.ts";
import type { ResolvedDocument } from "../references.ts";
import { sha256 } from "../source.ts";

/**
 * Sections of the machine: a listener and a store are not those of another one, and what code is
 * loaded is decided where it is installed.
 */
const OWN: ReadonlySet<string> = new Set(["server", "store", "shared", "plugins", "config"]);
/** Keys that both parts may have. */
const COMMON: ReadonlySet<string> = new Set(["version", "end_of_config"]);

/** Whether a document on disk leaves the rest of the configuration to the store. */
export function namesStore(document: ConfigDocument): boolean {
  const { value } = document;
  if (!isObject(value) || !isObject(value["config"])) return false;
  return value["config"]["source"] === "postgres";
}

/** Findings about sections in the wrong part. */
export function misplaced(own: ConfigDocument, stored: ConfigDocument | undefined): Finding[] {
  const isOwn = (key: string): boolean => OWN.has(key) || COMMON.has(key);
  return [
    ...keysOf(own)
      .filter((key) => !isOwn(key))
      .map((key) => ({
        at: own.keyAt([key]),
        message: `\`${key}\` stands in the file of this machine, and the configuration is in the store (config.source: postgres)`,
        fix: "move it to the files that `sluice push` sends",
      })),
    ...(stored === undefined ? [] : keysOf(stored))
      .filter((key) => OWN.has(key))
      .map((key) => ({
        at: stored?.keyAt([key]) ?? own.keyAt([]),
        message: `\`${key}\` stands in the pushed configuration, and is each machine's own`,
        fix: "remove it there; it belongs to the gateway file of each machine",
      })),
  ];
}

/** Both parts as one document. Its text and its path are those of the stored part. */
export function joinParts(own: ResolvedDocument, stored: ResolvedDocument): ResolvedDocument {
  const partOf = (path: Path): ConfigDocument =>
    OWN.has(String(path[0])) ? own.document : stored.document;
  const value = joinValues(own.value, stored.value);
  const document: ConfigDocument = {
    ...stored.document,
    digest: sha256(`${own.document.digest} ${stored.document.digest}`),
    value: joinValues(own.document.value, stored.document.value),
    valueAt: (path) => partOf(path).valueAt(path),
    keyAt: (path) => partOf(path).keyAt(path),
  };
  const isOwn = ({ path }: { readonly path: Path }): boolean => OWN.has(String(path[0]));
  return {
    document,
    value,
    references: [
      ...own.references.filter(isOwn),
      ...stored.references.filter((reference) => !isOwn(reference)),
    ],
    findings: [...own.findings, ...stored.findings],
  };
}

/** The last key stays last: it may be the end mark. */
function joinValues(own: unknown, stored: unknown): unknown {
  if (!isObject(own) || !isObject(stored)) return stored;
  return {
    ...Object.fromEntries(Object.entries(own).filter(([key]) => OWN.has(key))),
    ...Object.fromEntries(Object.entries(stored).filter(([key]) => !OWN.has(key))),
  };
}

function keysOf({ value }: ConfigDocument): readonly string[] {
  return isObject(value) ? Object.keys(value) : [];
}
