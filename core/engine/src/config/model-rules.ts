/** What the models of gateway.yaml say of each other and of themselves, beyond a schema. */

import { type Fault, nameFix } from "./explain.ts";
import { formatPath, valueAtPath } from "./path.ts";
import { priceFault } from "./price-section.ts";
import type { PriceSection } from "./schema/prices.ts";

const CLASSES = ["general", "context_window", "content_policy", "rate_limit", "overloaded", "timeout"];

/** The faults of fallbacks, and of targets' prices and queues. Reads whatever is there; schemas report what is not. */
export function modelReferenceFaults(gateway: unknown): Fault[] {
  const models = listOf(gateway, ["models"]);
  const ids = models.map((model) => valueAtPath(model, ["id"])).filter((id) => typeof id === "string");
  return models.flatMap((model, index) => [
    ...CLASSES.flatMap((name) => fallbackFaults(model, ["models", index, "fallbacks", name], ids)),
    ...listOf(model, ["targets"]).flatMap((target, place) => {
      const path = ["models", index, "targets", place];
      return [...priceFaults(target, [...path, "price"]), ...queueFaults(target, [...path, "queue"])];
    }),
  ]);
}

function fallbackFaults(model: unknown, path: readonly (string | number)[], ids: readonly string[]): Fault[] {
  const id = valueAtPath(model, ["id"]);
  return listOf(model, path.slice(2)).flatMap((name, place): Fault[] => {
    if (typeof name !== "string" || name === "") return [];
    const at = [...path, place];
    const where = `\`${formatPath(at)}\``;
    if (name === id) {
      return [{ path: at, on: "value", message: `${where} names the model itself`, fix: "name another one, or remove it" }];
    }
    // A wildcard is no model that could stand in; what it matches is.
    const isKnown = !name.endsWith("*") && ids.some((known) => known === name || isMatch(known, name));
    if (isKnown) return [];
    const known = ids.filter((other) => other !== id && !other.endsWith("*"));
    const message = `${where} names "${name}", which is not under \`models\``;
    return [{ path: at, on: "value", message, fix: nameFix(name, known, "add it to `models`") }];
  });
}

function priceFaults(target: unknown, path: readonly (string | number)[]): Fault[] {
  const price = valueAtPath(target, ["price"]);
  if (typeof price !== "object" || price === null || Array.isArray(price)) return [];
  const fault = priceFault(price as PriceSection);
  return fault === undefined ? [] : [{ path, on: "key", message: `\`${formatPath(path)}\` ${fault.message}`, fix: fault.fix }];
}

/** A queue is for those who find `max_parallel` reached. */
function queueFaults(target: unknown, path: readonly (string | number)[]): Fault[] {
  const queue = valueAtPath(target, ["queue"]);
  if (typeof queue !== "number" || queue <= 0 || valueAtPath(target, ["max_parallel"]) !== undefined) return [];
  const message = `\`${formatPath(path)}\` has no effect without \`max_parallel\``;
  return [{ path, on: "key", message, fix: "say how many requests may run, or remove the queue" }];
}

function isMatch(wildcard: string, id: string): boolean {
  return wildcard.endsWith("*") && id.length >= wildcard.length && id.startsWith(wildcard.slice(0, -1));
}

function listOf(value: unknown, path: readonly (string | number)[]): readonly unknown[] {
  const list = valueAtPath(value, path);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}
