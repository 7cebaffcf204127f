/** What the models of gateway.yaml say of each other and of themselves, beyond a schema. */

import { type Fault, nameFix } from "./explain.ts";
import { modeOf } from "../model-settings.ts";
import { formatPath, valueAtPath } from "../files/path.ts";
import { priceFault } from "../prices/section.ts";
import type { PriceSection } from "../schema/prices.ts";

const CLASSES = [
  "general",
  "context_window",
  "content_policy",
  "rate_limit",
  "overloaded",
  "timeout",
];

/**
 * The faults of fallbacks, and of targets' prices and queues. Reads whatever is there; schemas
 * report what is not.
 */
export function modelReferenceFaults(gateway: unknown): Fault[] {
  const models = listOf(gateway, ["models"]);
  const modes = modesOf(models);
  // A model without its id has its own finding: names of models are then not judged.
  const areKnown = models.every((model) => typeof valueAtPath(model, ["id"]) === "string");
  return models.flatMap((model, index) => [
    ...CLASSES.flatMap((name) =>
      fallbackFaults(model, ["models", index, "fallbacks", name], modes, areKnown),
    ),
    ...listOf(model, ["targets"]).flatMap((target, place) => {
      const path = ["models", index, "targets", place];
      return [
        ...priceFaults(target, [...path, "price"]),
        ...queueFaults(target, [...path, "queue"]),
      ];
    }),
  ]);
}

/** What each model is for, by its id, in the file's order. */
function modesOf(models: readonly unknown[]): ReadonlyMap<string, unknown> {
  const modes = new Map<string, unknown>();
  for (const model of models) {
    const id = valueAtPath(model, ["id"]);
    if (typeof id === "string" && !modes.has(id))
      modes.set(id, modeOf(valueAtPath(model, ["mode"])));
  }
  return modes;
}

function fallbackFaults(
  model: unknown,
  path: readonly (string | number)[],
  modes: ReadonlyMap<string, unknown>,
  areKnown: boolean,
): Fault[] {
  const id = valueAtPath(model, ["id"]);
  const mode = modeOf(valueAtPath(model, ["mode"]));
  const ids = [...modes.keys()];
  return listOf(model, path.slice(2)).flatMap((name, place): Fault[] => {
    if (typeof name !== "string" || name === "") return [];
    const at = [...path, place];
    const where = `\`${formatPath(at)}\``;
    if (name === id) {
      return [
        {
          path: at,
          on: "value",
          message: `${where} names the model itself`,
          fix: "name another one, or remove it",
        },
      ];
    }
    // A wildcard is no model that could stand in; what it matches is.
    const entry = name.endsWith("*") ? undefined : entryOf(name, ids);
    if (entry !== undefined) {
      const other = modes.get(entry);
      if (other === mode || typeof other !== "string" || typeof mode !== "string") return [];
      const message = `${where} names "${name}", which is for the mode ${other}, not ${mode}: it cannot answer these requests`;
      return [
        { path: at, on: "value", message, fix: `name a model of the mode ${mode}, or remove it` },
      ];
    }
    if (!areKnown) return [];
    const known = ids.filter((other) => other !== id && !other.endsWith("*"));
    const message = `${where} names "${name}", which is not under \`models\``;
    return [{ path: at, on: "value", message, fix: nameFix(name, known, "add it to `models`") }];
  });
}

function priceFaults(target: unknown, path: readonly (string | number)[]): Fault[] {
  const price = valueAtPath(target, ["price"]);
  if (typeof price !== "object" || price === null || Array.isArray(price)) return [];
  const fault = priceFault(price as PriceSection);
  return fault === undefined
    ? []
    : [{ path, on: "key", message: `\`${formatPath(path)}\` ${fault.message}`, fix: fault.fix }];
}

/** A queue is for those who find `max_parallel` reached. */
function queueFaults(target: unknown, path: readonly (string | number)[]): Fault[] {
  const queue = valueAtPath(target, ["queue"]);
  if (
    typeof queue !== "number" ||
    queue <= 0 ||
    valueAtPath(target, ["max_parallel"]) !== undefined
  )
    return [];
  const message = `\`${formatPath(path)}\` has no effect without \`max_parallel\``;
  return [{ path, on: "key", message, fix: "set `max_parallel`, or remove the queue" }];
}

/** The entry that serves an id: its own, else the wildcard with the longest beginning. */
function entryOf(id: string, ids: readonly string[]): string | undefined {
  if (ids.includes(id)) return id;
  const wildcards = ids.filter(
    (known) =>
      known.endsWith("*") && id.length >= known.length && id.startsWith(known.slice(0, -1)),
  );
  return wildcards.toSorted((one, other) => other.length - one.length)[0];
}

function listOf(value: unknown, path: readonly (string | number)[]): readonly unknown[] {
  const list = valueAtPath(value, path);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}
