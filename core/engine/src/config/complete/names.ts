/** Names that the files give, and where they may be written. */

import { listOf, sectionOf, textOf } from "../validate/entries.ts";
import { valueAtPath } from "../files/path.ts";
import type { Path } from "../files/document.ts";

/** The kinds of files. */
export type FileKind = "gateway" | "pipeline" | "prices";

/** A name, and what it is. */
export interface KnownName {
  readonly name: string;
  readonly what: string;
}

type Kind =
  | "provider"
  | "model"
  | "access group"
  | "guardrail"
  | "key"
  | "team"
  | "organization"
  | "user"
  | "budget";

/** Places by their path, in which `*` is an entry of a list or a name of the file's own. */
const PLACES: Readonly<Record<FileKind, readonly (readonly [RegExp, readonly Kind[]])[]>> = {
  gateway: [
    [/^models\.\*\.targets\.\*\.provider$/, ["provider"]],
    [/^models\.\*\.fallbacks\.\w+\.\*$/, ["model"]],
    [/(?:^|\.)models\.\*$/, ["model", "access group"]],
    [/^models\.\*\.access_groups\.\*$/, ["access group"]],
    [/\.aliases\.\w+$/, ["model"]],
    [/\.guardrails\.\*$/, ["guardrail"]],
    [/\.team_id$/, ["team"]],
    [/\.organization_id$/, ["organization"]],
    [/\.organizations\.\*$/, ["organization"]],
    [/\.user_id$/, ["user"]],
    [/\.budget_id$/, ["budget"]],
  ],
  pipeline: [
    [/^steps\.\*\.with\.(?:input|output)\.\*$/, ["guardrail"]],
    [/^steps\.\*\.when\.model(?:\.\*)?$/, ["model"]],
    [/^steps\.\*\.when\.key(?:\.\*)?$/, ["key"]],
    [/^steps\.\*\.when\.team(?:\.\*)?$/, ["team"]],
    [/^steps\.\*\.when\.user(?:\.\*)?$/, ["user"]],
    [/^tests\.\*\.request\.model$/, ["model"]],
  ],
  prices: [],
};

/** The names that belong to a place. `gateway` is the data of the gateway file. */
export function namesAt(kind: FileKind, path: Path, gateway: unknown): readonly KnownName[] {
  const place = path.map((part) => (typeof part === "number" ? "*" : part)).join(".");
  const kinds = PLACES[kind].find(([pattern]) => pattern.test(place))?.[1] ?? [];
  // The own id of a record is new.
  if (/^(\w+)s\.\*\.\1_id$/.test(place)) return [];
  return kinds.flatMap((what) => NAMES[what](gateway).map((name) => ({ name, what })));
}

const ids =
  (list: string, key: string) =>
  (gateway: unknown): readonly string[] =>
    listOf(gateway, list).flatMap((entry) => textOf(entry, key) ?? []);

const NAMES: Readonly<Record<Kind, (gateway: unknown) => readonly string[]>> = {
  provider: (gateway) => Object.keys(sectionOf(gateway, "providers")),
  guardrail: (gateway) => Object.keys(sectionOf(gateway, "guardrails")),
  model: ids("models", "id"),
  "access group": (gateway) => [
    ...new Set([
      ...ids("access_groups", "access_group")(gateway),
      ...listOf(gateway, "models").flatMap((model) => textsOf(model, "access_groups")),
    ]),
  ],
  key: ids("keys", "alias"),
  team: ids("teams", "team_id"),
  organization: ids("organizations", "organization_id"),
  user: ids("users", "user_id"),
  budget: ids("budgets", "budget_id"),
};

function textsOf(value: unknown, key: string): readonly string[] {
  const list = valueAtPath(value, [key]);
  return Array.isArray(list) ? list.filter((one): one is string => typeof one === "string") : [];
}
