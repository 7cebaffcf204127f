/** One checked part of a document: schema, references, secrets and findings together. */

import { Secret, type JsonSchema } from "@sluice/contract";

import { checkByAjv, checkValue } from "./checker.ts";
import type { Path } from "../files/document.ts";
import { explainErrors, type Fault } from "./explain.ts";
import type { Finding } from "../finding.ts";
import { formatPath, isSamePath, pathOfPointer, setAtPath, valueAtPath } from "../files/path.ts";
import type { Reference, ResolvedDocument } from "../files/references.ts";

/** Places a fault in a document. */
export function findingOf(resolved: ResolvedDocument, fault: Fault): Finding {
  const at =
    fault.on === "key"
      ? resolved.document.keyAt(fault.path)
      : resolved.document.valueAt(fault.path);
  return { at, message: fault.message, fix: fault.fix };
}

/**
 * Checks the value at `base` against a schema, in place: defaults are filled in, texts that came
 * from a reference become numbers and truth values where the schema wants them, marked texts become
 * Secrets.
 */
export function checkSection(
  resolved: ResolvedDocument,
  base: Path,
  schema: JsonSchema,
  value?: unknown,
  elsewhere?: Elsewhere,
): Finding[] {
  return checkInPlace(
    resolved,
    base,
    schema,
    value ?? valueAtPath(resolved.value, base),
    elsewhere,
  );
}

/** Checks a whole file, as `checkSection` does; `elsewhere` says where its unknown keys belong. */
export function checkWhole(
  resolved: ResolvedDocument,
  schema: JsonSchema,
  elsewhere: Elsewhere,
): Finding[] {
  return checkInPlace(resolved, [], schema, resolved.value, elsewhere);
}

type Elsewhere = (path: Path) => string | undefined;

function checkInPlace(
  resolved: ResolvedDocument,
  base: Path,
  schema: JsonSchema,
  value: unknown,
  elsewhere?: Elsewhere,
): Finding[] {
  const referencesAt = (path: Path): Reference[] =>
    resolved.references.filter((reference) => isSamePath(reference.path, path));
  let checked: ReturnType<typeof checkValue>;
  try {
    checked = checkValue(schema, value, unresolvedTexts(resolved, base, value));
    if (convertReferences(checked.errors, value, base, referencesAt))
      checked = checkByAjv(schema, value);
  } catch (error) {
    const message = `the options' schema of the plugin is at fault: ${error instanceof Error ? error.message : "unknown"}`;
    return [
      findingOf(resolved, {
        path: base,
        on: "key",
        message,
        fix: "report it to the author of the plugin",
      }),
    ];
  }

  const secrets = checked.secrets.map((path) => [...base, ...path]);
  const standIn = (path: Path): string | undefined =>
    referencesAt(path)[0]?.written ??
    (secrets.some((secret) => isSamePath(secret, path)) ? "what stands there" : undefined);
  const isUnresolved = (path: Path): boolean =>
    referencesAt(path).some((reference) => reference.value === undefined);
  const faults = explainErrors(checked.errors, {
    base,
    value,
    standIn,
    ...(elsewhere && { elsewhere }),
  }).filter((fault) => fault.on === "key" || !isUnresolved(fault.path));
  for (const path of secrets) {
    const [reference] = referencesAt(path);
    const written = valueAtPath(value, path.slice(base.length));
    // What looks like a reference and is none has its finding already.
    if (reference === undefined && typeof written === "string" && written.includes("${")) continue;
    if (reference === undefined && typeof written === "string" && isAddressAt(path, written)) {
      setAtPath(value, path.slice(base.length), new Secret(formatPath(path), written));
      continue;
    }
    if (reference === undefined || !reference.isWhole || reference.hasDefault) {
      faults.push(literalFault(path, reference, written));
    } else if (reference.value !== undefined) {
      setAtPath(value, path.slice(base.length), new Secret(reference.name, reference.value));
    }
  }
  return faults.map((fault) => findingOf(resolved, fault));
}

/**
 * The texts below a place that hold a reference without a value. Findings say so elsewhere; their
 * form is no fault.
 */
function unresolvedTexts(
  resolved: ResolvedDocument,
  base: Path,
  value: unknown,
): ReadonlySet<string> {
  const texts = new Set<string>();
  for (const { path, value: found } of resolved.references) {
    if (found !== undefined || !isSamePath(path.slice(0, base.length), base)) continue;
    const text = valueAtPath(value, path.slice(base.length));
    if (typeof text === "string") texts.add(text);
  }
  return texts;
}

function literalFault(path: Path, reference: Reference | undefined, written: unknown): Fault {
  const where = `\`${formatPath(path)}\``;
  const variable = typeof written === "string" ? OTHER_REFERENCE.exec(written)?.[1] : undefined;
  if (reference === undefined && variable !== undefined) {
    const message = `${where} names the variable ${variable} in a form that is not read here`;
    return { path, on: "value", message, fix: `write \`\${env:${variable}}\`` };
  }
  if (reference === undefined) {
    const message = `${where} holds a literal that looks like a credential`;
    return {
      path,
      on: "value",
      message,
      fix: "write `${env:NAME}` and put the value in the environment",
    };
  }
  const message = reference.hasDefault
    ? `${where} has a default, which is a literal credential`
    : `${where} mixes a credential with other text`;
  return { path, on: "value", message, fix: `write \`\${${reference.name}}\` alone` };
}

/** How shells, LiteLLM, Node and other programs name a variable. */
const OTHER_REFERENCE =
  /^(?:\$|%|env[:.]|\$env:|os\.environ\/|process\.env\.|\{\{\s*(?:env\.)?)([A-Z_][A-Z0-9_]*)(?:%|\s*\}\})?$/;

/** Whether a text is an address without a credential; `host:port` is one where a URL belongs. */
function isAddressAt(path: Path, text: string): boolean {
  return (
    isBareAddress(text) ||
    (path.at(-1) === "url" && /^[A-Za-z0-9.-]+:\d{1,5}(?:\/\w*)?$/.test(text))
  );
}

/**
 * Whether a text is an address and nothing more: a scheme, a host, a port and a number, without a
 * user or a password.
 */
function isBareAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.host === "") return false;
  return (
    `${url.username}${url.password}${url.search}${url.hash}` === "" &&
    /^(?:\/\d{0,3})?$/.test(url.pathname)
  );
}

/** Turns texts from references into what the schema wants. Returns whether it changed anything. */
function convertReferences(
  errors: ReturnType<typeof checkValue>["errors"],
  value: unknown,
  base: Path,
  referencesAt: (path: Path) => Reference[],
): boolean {
  let hasChanged = false;
  for (const error of errors) {
    if (error.keyword !== "type" || typeof error.data !== "string") continue;
    const path = pathOfPointer(error.instancePath, value);
    const [reference] = referencesAt([...base, ...path]);
    if (reference?.value === undefined || !reference.isWhole) continue;
    const converted = convert(error.data, String(error.params["type"]));
    if (converted === undefined) continue;
    setAtPath(value, path, converted);
    hasChanged = true;
  }
  return hasChanged;
}

function convert(text: string, type: string): number | boolean | undefined {
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  const isNumber =
    type === "integer"
      ? /^-?\d{1,15}$/.test(text)
      : type === "number" && /^-?\d{1,15}(\.\d{1,15})?$/.test(text);
  return isNumber ? Number(text) : undefined;
}
