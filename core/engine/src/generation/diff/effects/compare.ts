/**
 * Compares two configurations by value, secrets included, and describes differences without
 * secrets.
 */

import { Secret } from "@sluice/contract";

/** Entries of two lists by a name: those that went, those that came, those in both. */
export interface Matched<T> {
  readonly removed: readonly T[];
  readonly added: readonly T[];
  readonly kept: readonly (readonly [before: T, after: T])[];
}

/** Matches two lists by name. Of several entries with one name, the first counts. */
export function matched<T>(
  before: readonly T[],
  after: readonly T[],
  nameOf: (entry: T) => string,
): Matched<T> {
  const old = byName(before, nameOf);
  const now = byName(after, nameOf);
  return {
    removed: [...old].filter(([name]) => !now.has(name)).map(([, entry]) => entry),
    added: [...now].filter(([name]) => !old.has(name)).map(([, entry]) => entry),
    kept: [...now].flatMap(([name, entry]) => {
      const other = old.get(name);
      return other === undefined ? [] : [[other, entry] as const];
    }),
  };
}

function byName<T>(entries: readonly T[], nameOf: (entry: T) => string): ReadonlyMap<string, T> {
  const named = new Map<string, T>();
  for (const entry of entries) if (!named.has(nameOf(entry))) named.set(nameOf(entry), entry);
  return named;
}

/**
 * Whether two values are equal. Secrets are compared by their values; positions in files are
 * ignored.
 */
export function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left instanceof Secret || right instanceof Secret)
    return left instanceof Secret && right instanceof Secret && left.reveal() === right.reveal();
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
    return Object.is(left, right);
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  keys.delete("at");
  return [...keys].every((key) => isSame((left as Members)[key], (right as Members)[key]));
}

/** The members in which two objects differ, as `name: old -> new`. */
export function changesOf(
  before: object,
  after: object,
  passedOver: readonly string[] = [],
): string[] {
  return changedMembers(before, after, passedOver).map(
    (name) =>
      `${name}: ${valueText((before as Members)[name])} -> ${valueText((after as Members)[name])}`,
  );
}

/** The names of members in which two objects differ. */
export function changedMembers(
  before: object,
  after: object,
  passedOver: readonly string[] = [],
): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter(
    (name) =>
      name !== "at" &&
      !passedOver.includes(name) &&
      !isSame((before as Members)[name], (after as Members)[name]),
  );
}

/** A value in a few words; a secret shows its name alone. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

/** Names in a line: the first few, and how many more. */
export function listed(names: readonly string[], most = 5): string {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(", ")} and ${more} more` : names.join(", ");
}

type Members = Readonly<Record<string, unknown>>;

const MAX_CHARACTERS = 80;
