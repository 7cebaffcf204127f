/** Fields of the bodies that the configuration routes take. */

import { isObject } from "@sluice/kit";
import type { JsonObject, JsonValue } from "@sluice/contract";
import type { CanaryPlan } from "../../../generation/rollout/canary/canary.ts";
import { readPlan } from "../../../generation/rollout/canary/canary-plan.ts";
import type { Side } from "../../../generation/diff/config-diff.ts";
import { invalid, readText, refuseUnknown } from "../fields.ts";

/** `{ share: "5%", for: "10m", abort_if: "error_rate>5%", min_requests: 20 }`. */
export function readCanary(value: JsonValue): CanaryPlan | undefined {
  if (value === null) return undefined;
  if (!isObject(value))
    throw invalid("canary", "The field canary must be an object, with a `share` such as 5%.");
  const words = value as JsonObject;
  refuseUnknown(Object.keys(words), ["share", "for", "abort_if", "min_requests"], "field");
  const text = (name: string): string | undefined => {
    const member = words[name] ?? null;
    return member === null ? undefined : readText(member, `canary.${name}`);
  };
  const { min_requests: least = null } = words;
  if (least !== null && typeof least !== "number")
    throw invalid("canary.min_requests", "It must be a whole number.");
  const share = text("share") ?? "";
  return readPlan({
    share,
    for: text("for"),
    abortIf: text("abort_if"),
    minRequests: least ?? undefined,
  });
}

/** The author's name, as the request gives it. All administrators share the master key. */
export function readAuthor({ author = null }: JsonObject): string | undefined {
  if (author === null) return undefined;
  const name = readText(author, "author").trim();
  if (/^[^\p{C}]{1,100}$/u.test(name)) return name;
  throw invalid("author", "The field author must be a name of 1 to 100 characters, on one line.");
}

/** A side of a comparison. Throws `invalid_field`. */
export function readSide(value: JsonValue, name: string): Side {
  if (value === "running" || value === "files") return value;
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  throw invalid(
    name,
    `The field ${name} must be "running", "files" or the number of a generation.`,
  );
}

/** A flag. Throws `invalid_field`. */
export function readFlag(value: JsonValue, name: string): boolean {
  if (typeof value === "boolean") return value;
  throw invalid(name, `The field ${name} must be true or false.`);
}

/** The number of a generation; `undefined` for null. Throws `invalid_field`. */
export function readGeneration(value: JsonValue): number | undefined {
  if (value === null) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  throw invalid(
    "generation",
    "The field generation must be the number of a generation; GET /config/history lists them.",
  );
}

/** Contents by the names of files. Throws `invalid_field`. */
export function readFiles(value: JsonValue): Record<string, string | null> {
  if (!isObject(value))
    throw invalid("files", "The field files must be an object: names of files and their contents.");
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, text]) => {
      if (typeof text === "string" || text === null) return [name, text];
      throw invalid(
        "files",
        `The file ${JSON.stringify(name)} must be a text, or null to leave it out.`,
      );
    }),
  );
}
