/** Members of a client's document, each checked for its type. A member that is null is absent. */

import type { JsonDocument, JsonObject, JsonValue, NativeOnly } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { invalidField, Members } from "@sluice/kit/dialect";

/** What the reading of one request notes beside the body, and what it looks up. */
export interface Notes {
  /** The values of the document, for a text that is made of one. */
  readonly exact: Members.ExactValues;
  /** See `FaceRequest.nativeOnly`. */
  native(path: string, what: string): void;
  /** See `FaceRequest.dropped`. Indices are left out of the path, so that the list stays short. */
  drop(path: string): void;
  /** Notes a mark of the face's own. */
  mark(): void;
}

/** Notes, and what they hold. */
export class NoteBook implements Notes {
  readonly exact: Members.ExactValues;
  readonly #native: NativeOnly[] = [];
  readonly #dropped = new Set<string>();
  #hasMarks = false;

  constructor(document: JsonDocument) {
    this.exact = new Members.ExactValues(document);
  }

  native(path: string, what: string): void {
    this.#native.push({ path, what });
  }

  drop(path: string): void {
    this.#dropped.add(path.replaceAll(/\[\d+\]/g, "[]"));
  }

  /** Notes a mark of the face's own. */
  mark(): void {
    this.#hasMarks = true;
  }

  /** The members of `FaceRequest`; empty ones are absent. */
  get members(): {
    readonly holdsOwnMarks?: true;
    readonly dropped?: readonly string[];
    readonly nativeOnly?: readonly NativeOnly[];
  } {
    return {
      ...(this.#dropped.size === 0 ? {} : { dropped: [...this.#dropped] }),
      ...(this.#native.length === 0 ? {} : { nativeOnly: this.#native }),
      ...(this.#hasMarks ? { holdsOwnMarks: true } : {}),
    };
  }
}

/** An object. Throws `invalid_field` for another value. */
export function object(value: JsonValue | undefined, path: string): JsonObject {
  if (!isObject(value)) throw invalidField(path, "an object");
  return value;
}

/** A string. Throws `invalid_field` for another value. */
export function string(value: JsonValue | undefined, path: string): string {
  if (typeof value !== "string") throw invalidField(path, "a string");
  return value;
}

/** A string that is not empty. Throws `invalid_field` for another value. */
export function name(value: JsonValue | undefined, path: string): string {
  if (typeof value !== "string" || value === "")
    throw invalidField(path, "a string that is not empty");
  return value;
}

/** An array. Throws `invalid_field` for another value. */
export function array(value: JsonValue | undefined, path: string): readonly JsonValue[] {
  if (!Array.isArray(value)) throw invalidField(path, "an array");
  return value as readonly JsonValue[];
}

/** A number, or `undefined` for an absent one. Throws `invalid_field` for another value. */
export function number(value: JsonValue | undefined, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number") throw invalidField(path, "a number");
  return value;
}

/** A boolean, or `undefined` for an absent one. Throws `invalid_field` for another value. */
export function boolean(value: JsonValue | undefined, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw invalidField(path, "a boolean");
  return value;
}

/** Whether a member is set. */
export function isSet(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

/** `cache_control` of a value, as a member to spread. */
export function marker({ cache_control: control }: JsonObject, path: string): JsonObject {
  return isSet(control) ? { cache_control: object(control, `${path}.cache_control`) } : {};
}

/** Members of a value that are set and not in the list. */
export function unknownMembers(value: JsonObject, known: readonly string[]): string[] {
  return Object.keys(value).filter((each) => isSet(value[each]) && !known.includes(each));
}
