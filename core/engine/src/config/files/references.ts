/**
 * References: `${env:NAME}`, `${env:NAME:-default}` and `${file:path}`, resolved on scalar texts
 * after parsing.
 */

import { dirname, resolve } from "node:path";

import { looksLikeCredential } from "../validate/credential.ts";
import type { ConfigDocument, Path } from "./document.ts";
import type { Finding } from "../finding.ts";
import { formatPath } from "./path.ts";
import { type ConfigSource, diskSource } from "./source.ts";

/** The variables of the process, as the caller passes them in. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One reference of a document. */
export interface Reference {
  /** Where the scalar stands that holds it. */
  readonly path: Path;
  /** As written: `${env:OPENAI_API_KEY}`. */
  readonly written: string;
  /** `env:NAME` or `file:path`. */
  readonly name: string;
  /** The absolute path of a `${file:}` reference. */
  readonly file: string | undefined;
  /** `undefined`: it did not resolve. An empty variable counts as unset. */
  readonly value: string | undefined;
  /** Why it did not resolve: "is not set". */
  readonly reason: string;
  /** The scalar is this reference and nothing else. */
  readonly isWhole: boolean;
  readonly hasDefault: boolean;
}

/** A document's data with its references put in. */
export interface ResolvedDocument {
  readonly document: ConfigDocument;
  /** A fresh copy of the data. A text with an unresolved reference stays as it is written. */
  readonly value: unknown;
  readonly references: readonly Reference[];
  /**
   * Broken references, missing values, literals that look like credentials. Unresolved references
   * are not among them.
   */
  readonly findings: readonly Finding[];
}

const REFERENCE = /\$\{([^}]*)(\}?)/g;
const ENVIRONMENT_REFERENCE = /^env:([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;
const FILE_REFERENCE = /^file:(.+)$/;

/**
 * Puts the values of references into a copy of a document's data. Reads the files that are referred
 * to.
 */
export function resolveReferences(
  document: ConfigDocument,
  environment: Environment,
  source: ConfigSource = diskSource,
): ResolvedDocument {
  return new Resolution(document, environment, source).resolve();
}

/** One pass over a document: the copy, its references and its findings. */
class Resolution {
  readonly #document: ConfigDocument;
  readonly #environment: Environment;
  readonly #source: ConfigSource;
  readonly #references: Reference[] = [];
  readonly #findings: Finding[] = [];

  constructor(document: ConfigDocument, environment: Environment, source: ConfigSource) {
    this.#document = document;
    this.#environment = environment;
    this.#source = source;
  }

  resolve(): ResolvedDocument {
    const document = this.#document;
    const value = this.#visit(document.value, []);
    return { document, value, references: this.#references, findings: this.#findings };
  }

  #visit(value: unknown, path: Path): unknown {
    if (value === null && path.length > 0) {
      const message = `\`${formatPath(path)}\` has no value`;
      const at = this.#document.keyAt(path);
      this.#findings.push({ at, message, fix: "give it a value, or remove it" });
      return value;
    }
    if (typeof value === "string") return this.#visitText(value, path);
    if (Array.isArray(value))
      return value.map((item, index) => this.#visit(item, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, this.#visit(member, [...path, key])]),
    );
  }

  #visitText(text: string, path: Path): string {
    if (looksLikeCredential(text)) {
      this.#findings.push({
        at: this.#document.valueAt(path),
        message: `\`${formatPath(path)}\` holds a literal that looks like a credential`,
        fix: "write `${env:NAME}` and put the value in the environment",
      });
    }
    return text.replace(REFERENCE, (written: string, inner: string, closing: string) => {
      const reference =
        closing === "" ? undefined : this.#read(written, inner, path, written === text);
      if (reference === undefined) {
        this.#findings.push({
          at: this.#document.valueAt(path),
          message: `\`${formatPath(path)}\` holds \`${written.slice(0, MAX_SHOWN)}\`, which is not a reference`,
          fix: referenceFix(inner),
        });
        return written;
      }
      this.#references.push(reference);
      return reference.value ?? written;
    });
  }

  #read(written: string, inner: string, path: Path, isWhole: boolean): Reference | undefined {
    const variable = ENVIRONMENT_REFERENCE.exec(inner);
    if (variable !== null) {
      const name = variable[1] ?? "";
      return {
        path,
        written,
        name: `env:${name}`,
        file: undefined,
        value: this.#environment[name] || variable[2],
        reason: "is not set",
        isWhole,
        hasDefault: variable[2] !== undefined,
      };
    }
    const named = FILE_REFERENCE.exec(inner)?.[1];
    if (named === undefined) return undefined;
    const file = resolve(dirname(this.#document.path), named);
    return {
      path,
      written,
      name: `file:${named}`,
      file,
      ...readValue(file, this.#source),
      isWhole,
      hasDefault: false,
    };
  }
}

/** The finding for a reference that must resolve and does not. */
export function unresolvedFinding(document: ConfigDocument, reference: Reference): Finding {
  const message = `\`${formatPath(reference.path)}\` needs ${reference.written}, which ${reference.reason}`;
  const variable = reference.name.slice("env:".length);
  const fix =
    reference.file === undefined
      ? `set ${variable} in the environment`
      : `put the value into ${reference.file}`;
  return { at: document.valueAt(reference.path), message, fix };
}

const MAX_SHOWN = 40;

/** What to write for `${NAME}`, `${{ env.NAME }` and `${env:NAME-default}`. */
function referenceFix(inner: string): string {
  const [, name, rest] =
    /^\{?\s*(?:env[.:])?([A-Za-z_][A-Za-z0-9_]*)\s*(:?-.*)?$/.exec(inner) ?? [];
  if (name === undefined) return "write `${env:NAME}`, `${env:NAME:-default}` or `${file:path}`";
  return rest === undefined ? `write \`\${env:${name}}\`` : `write \`\${env:${name}:-default}\``;
}

/** A file's text without the line break at its end. */
function readValue(
  file: string,
  source: ConfigSource,
): { value: string | undefined; reason: string } {
  const read = source.read(file);
  if (read.bytes === undefined)
    return { value: undefined, reason: `cannot be read: ${read.reason}` };
  const value = read.bytes.toString("utf8").replace(/\r?\n$/, "");
  return value === "" ? { value: undefined, reason: "is empty" } : { value, reason: "" };
}
