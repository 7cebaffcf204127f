/** References: `os.environ/NAME` becomes `${env:NAME}`, and a credential that was written out becomes one as well. */

import type { ImportSource, SourcePath } from "./source.ts";
import { textOf } from "./source.ts";

const ENVIRONMENT = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;

/** A text with LiteLLM's reference in our words; other texts as they are. `undefined` for what is no text. */
export function referenceOf(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const [, name] = ENVIRONMENT.exec(text) ?? [];
  return name === undefined ? text : `\${env:${name}}`;
}

/** A credential as a reference. One that was written out is not copied: `variable` is to hold it, and a note says so. */
export function credentialOf(value: unknown, variable: string, source: ImportSource, path: SourcePath): string {
  const reference = referenceOf(value);
  if (reference === undefined) return `\${env:${variable}}`;
  if (reference.startsWith("${")) return reference;
  source.note("todo", path, `the credential is written out; export it as ${variable}, the configuration refers to that`);
  return `\${env:${variable}}`;
}
