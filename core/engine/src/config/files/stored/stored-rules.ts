/**
 * What a pushed configuration may refer to on a machine. It is written by those who may push, and
 * not by those who may log in there: it reaches no secret of the gateway itself.
 */

import { isAbsolute, relative, resolve } from "node:path";
import type { Finding } from "../../finding.ts";
import { valueAtPath } from "../path.ts";
import type { Reference, ResolvedDocument } from "../references.ts";

const DEFAULT_SECRETS: readonly string[] = ["/run/secrets"];

/** Findings about references of a stored document. `home` is the folder of the gateway file. */
export function forbiddenReferences(
  { document, references }: ResolvedDocument,
  own: ResolvedDocument,
  home: string,
): Finding[] {
  const folders = secretFolders(own, home);
  const taken = new Set(own.references.map(({ name }) => name));
  return references.flatMap((reference): Finding[] => {
    const fault = faultOf(reference, folders, taken);
    return fault === undefined ? [] : [{ at: document.valueAt(reference.path), ...fault }];
  });
}

function faultOf(
  { name, written, file }: Reference,
  folders: readonly string[],
  taken: ReadonlySet<string>,
): { readonly message: string; readonly fix: string } | undefined {
  if (file !== undefined) {
    if (folders.some((folder) => isBelow(file, folder))) return undefined;
    return {
      message: `${written} is in none of the folders of secrets, and a pushed configuration reads no other file`,
      fix: `put the secret into ${folders[0] ?? "a folder"}, or name its folder in \`config.secrets\` of each machine`,
    };
  }
  if (!name.startsWith("env:SLUICE_") && !taken.has(name)) return undefined;
  return {
    message: `${written} is a secret of the gateway itself, and a pushed configuration reads none of these`,
    fix: "use a variable of its own",
  };
}

/** The folders of secrets that `config.secrets` names. `home` is the folder of the gateway file. */
export function secretFolders(own: ResolvedDocument | undefined, home: string): readonly string[] {
  const named = valueAtPath(own?.value, ["config", "secrets"]);
  const folders = Array.isArray(named) ? named : DEFAULT_SECRETS;
  return folders.flatMap((folder: unknown) =>
    typeof folder === "string" && folder !== "" ? [resolve(home, folder)] : [],
  );
}

/** Whether a file is in a folder, or below it. */
export function isBelow(file: string, folder: string): boolean {
  const way = relative(folder, file);
  return way !== "" && !isAbsolute(way) && !/^\.\.(?:\/|$)/.test(way);
}
