/** A digest of JSON values that does not depend on the order of fields and on white space. */

import { createHash, type Hash, hash } from "node:crypto";
import { readMembers } from "@sluice/kit/internals";
import type { JsonDocument, JsonObject, JsonValue } from "@sluice/contract";
import { parseJson } from "@sluice/kit";

/** Text beyond this goes into the hash piece by piece; below, one call of the whole is faster. */
const MAX_PENDING_CHARACTERS = 65_536;

const FEW_NAMES = 16;

/**
 * Gathers values. Each is written with its kind and length, so that different sequences of values
 * differ.
 */
export class CanonicalDigest {
  #pending = "";
  #hash: Hash | undefined;
  /** Whether a number was seen whose digits a double does not keep. */
  #isRounded = false;

  text(text: string): this {
    // A lone surrogate has no UTF-8 of its own: it is written as an escape.
    if (text.isWellFormed()) this.#write(`s${text.length}:`, text);
    else this.text(JSON.stringify(text)).#write("u", "");
    return this;
  }

  value(value: JsonValue | undefined): this {
    switch (typeof value) {
      case "string":
        return this.text(value);
      case "number":
        if (isRounded(value)) this.#isRounded = true;
        // -0 and 0 are written alike.
        this.#write("n", `${String(value)};`);
        return this;
      case "boolean":
        this.#write(value ? "t" : "f", "");
        return this;
      case "undefined":
        this.#write("-", "");
        return this;
      default:
        return this.#compound(value);
    }
  }

  /**
   * The members of a document, without the omitted ones. Integers beyond 2^53 count with all their
   * digits.
   */
  document(document: JsonDocument, omitted: ReadonlySet<string>): this {
    const { value } = document;
    for (const name of namesOf(value)) {
      if (omitted.has(name)) continue;
      this.#isRounded = false;
      this.text(name).value(value[name]);
      if (this.#isRounded) this.text("exact").value(exactValue(document, name));
    }
    this.#write(".", "");
    return this;
  }

  /** The SHA-256 of everything, in base64url. The last call. */
  end(): string {
    if (this.#hash === undefined) return hash("sha256", this.#pending, "base64url");
    return this.#hash.update(this.#pending).digest("base64url");
  }

  #compound(value: JsonObject | readonly JsonValue[] | null): this {
    if (value === null) {
      this.#write("0", "");
    } else if (Array.isArray(value)) {
      this.#write("[", `${value.length}:`);
      for (const item of value as readonly JsonValue[]) this.value(item);
    } else {
      const object = value as JsonObject;
      const names = namesOf(object);
      this.#write("{", `${names.length}:`);
      for (const name of names) this.text(name).value(object[name]);
    }
    return this;
  }

  #write(mark: string, text: string): void {
    this.#pending += mark;
    // A long text, an image for example, is hashed where it is, without a copy.
    if (this.#pending.length + text.length <= MAX_PENDING_CHARACTERS) {
      this.#pending += text;
      return;
    }
    this.#hash ??= createHash("sha256");
    this.#hash.update(this.#pending).update(text);
    this.#pending = "";
  }
}

/**
 * The names of an object's members, in order. Few are put in order where they stand: `sort` makes
 * arrays of its own.
 */
function namesOf(object: JsonObject): string[] {
  const names = Object.keys(object);
  if (names.length > FEW_NAMES) return names.sort();
  for (let at = 1; at < names.length; at += 1) {
    const name = names[at]!;
    let to = at;
    for (; to > 0 && names[to - 1]! > name; to -= 1) names[to] = names[to - 1]!;
    names[to] = name;
  }
  return names;
}

/** A member with its large numbers as their original texts. */
function exactValue({ bytes }: JsonDocument, name: string): JsonValue {
  const text = typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8");
  const member = readMembers(text).members.findLast(({ key }) => key === name);
  if (member === undefined) return null;
  const revive = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    isRounded(value) ? (context?.source ?? String(value)) : value;
  return parseJson(text.slice(member.valueStart, member.end), revive) as JsonValue;
}

function isRounded(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}
