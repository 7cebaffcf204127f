/**
 * References: `os.environ/NAME` becomes `${env:NAME}`, and a credential that was written out
 * becomes one as well.
 */

import type { ImportSource, SourcePath } from "./source.ts";
import { textOf } from "./source.ts";

const ENVIRONMENT = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;

/**
 * A text with LiteLLM's reference in our words; other texts as they are. `undefined` for what is no
 * text.
 */
export function referenceOf(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const [, name] = ENVIRONMENT.exec(text) ?? [];
  return name === undefined ? text : `\${env:${name}}`;
}

/**
 * A credential as a reference. One that was written out is not copied: a variable of its own is to
 * hold it, because it may be another one than that of the environment, and a note says so.
 */
export function credentialOf(
  value: unknown,
  variable: string,
  source: ImportSource,
  path: SourcePath,
): string {
  const reference = referenceOf(value);
  if (reference === undefined) return `\${env:${variable}}`;
  if (reference.startsWith("${")) return reference;
  const known = source.literals.get(reference);
  const name = known ?? `${variable}_${source.literals.size + 1}`;
  source.literals.set(reference, name);
  source.note(
    "todo",
    path,
    `the credential is written out; export it as ${name}, the configuration refers to that`,
  );
  return `\${env:${name}}`;
}
