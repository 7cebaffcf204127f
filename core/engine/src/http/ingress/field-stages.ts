/** The check of a large body's fields in stages: long lists are checked some items at a time. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject, Stages } from "@sluice/kit";
import {
  compileShape,
  type Field,
  type FieldTable,
  invalidField,
  type ShapeCheck,
  type ShapeFault,
} from "./body-fields.ts";

/** A shorter list is checked at once. */
const LONG_ITEMS = 256;
/** Items of an item's own list that are checked at once. */
const GROUP_ITEMS = 256;

/**
 * The check of `compileFields` in stages. The schema of a list without `maxItems` bounds no list in
 * its items.
 */
export function compileFieldStages(table: FieldTable): (body: JsonObject) => Stages.Of<void> {
  const checks = new Map(
    Object.entries(table).map(([name, field]) => [
      name,
      { field, check: compileShape(field.schema) },
    ]),
  );
  const required = Object.keys(table).filter((name) => table[name]?.isRequired === true);
  return function* (body) {
    for (const name of required)
      if (body[name] === undefined) throw invalidField([name], "is missing");
    for (const name in body) {
      const value = body[name];
      const { field, check } = checks.get(name) ?? {};
      if (value === undefined || field === undefined || check === undefined) continue;
      if (value === null && field.isRequired !== true) continue;
      const isLong = isUnbounded(field) && isLongList(value);
      const found = isLong ? yield* listFault(check, value) : check(value);
      if (found !== undefined) throw invalidField([name, ...found.path], found.problem);
    }
  };
}

/** Whether a field is a list of any number of items. */
function isUnbounded({ schema }: Field): boolean {
  return schema.type === "array" && schema.maxItems === undefined;
}

/**
 * The first fault of a list whose schema bounds neither the number of its items nor that of a list
 * in an item; `undefined` when there is none. Each item is checked by itself. One with a long list
 * is checked once for each group of that.
 */
function* listFault(
  check: ShapeCheck,
  list: readonly JsonValue[],
): Stages.Of<ShapeFault | undefined> {
  const clock = new Stages.Clock();
  for (const [index, item] of list.entries()) {
    for (const [part, name, from] of partsOf(item)) {
      const fault = check([part]);
      if (fault !== undefined) return placed(fault, index, name, from);
      if (clock.isOver()) yield;
    }
  }
  return undefined;
}

/** Whether a list takes long to check: it has many items, or one of them has. */
function isLongList(value: JsonValue): value is readonly JsonValue[] {
  if (!Array.isArray(value)) return false;
  const list = value as readonly JsonValue[];
  return list.length > LONG_ITEMS || list.some((item) => longName(item) !== undefined);
}

type Part = readonly [item: JsonValue, name: string | undefined, from: number];

/** An item with a group of its long list at a time; the item itself where it has none. */
function* partsOf(item: JsonValue): Generator<Part, void, undefined> {
  const name = longName(item);
  if (name === undefined) {
    yield [item, undefined, 0];
    return;
  }
  const object = item as JsonObject;
  const list = object[name] as readonly JsonValue[];
  for (let from = 0; from < list.length; from += GROUP_ITEMS)
    yield [{ ...object, [name]: list.slice(from, from + GROUP_ITEMS) }, name, from];
}

/** The name of an item's long list. */
function longName(item: JsonValue): string | undefined {
  if (!isObject(item)) return undefined;
  for (const name in item) {
    const member = item[name];
    if (Array.isArray(member) && member.length > LONG_ITEMS) return name;
  }
  return undefined;
}

/** The fault of a part at its place in the whole list. */
function placed(
  { path, problem }: ShapeFault,
  index: number,
  name: string | undefined,
  from: number,
): ShapeFault {
  const [, member, at, ...rest] = path;
  if (member === name && typeof at === "number")
    return { path: [index, member as string, from + at, ...rest], problem };
  return { path: [index, ...path.slice(1)], problem };
}
