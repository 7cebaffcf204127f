/** @sluice/guardrail-pii: finds personal data, and masks, hashes, restores or blocks it. */

import { createHmac, randomBytes } from "node:crypto";
import { defineGuardrail } from "@sluice/kit";
import {
  findPlaces,
  foldText,
  reachOf,
  type TextRule,
  type Treatment,
  verdictOf,
} from "@sluice/kit/guard";
import type { Secret, TextContext } from "@sluice/contract";
import { ENTITIES, ENTITY_NAMES, type EntityName } from "./entities.ts";
import { nameRule, namesOf } from "./names.ts";

type Action = "mask" | "hash" | "restore" | "block";

interface PiiConfig {
  readonly entities?: readonly EntityName[];
  readonly names: readonly string[];
  readonly action: Action;
  readonly actions: Readonly<Partial<Record<EntityName | "name", Action>>>;
  readonly hash_secret?: Secret;
}

/** A kind as this configuration treats it. */
interface Looking {
  readonly rule: TextRule;
  readonly reason: string;
  readonly word: string;
  readonly action: Action;
  readonly needsDigit: boolean;
}

const DIGIT = /\d/;
/** Kinds of which one may have no digit. */
const WITHOUT_DIGITS: ReadonlySet<string> = new Set(["email", "ip", "it_codice_fiscale"]);
/** Hexadecimal digits of a hash that are shown: 64 bits. */
const HASH_LENGTH = 16;
/** Kinds in which a dot or a hyphen makes a difference. */
const AS_WRITTEN: ReadonlySet<string> = new Set(["email", "ip", "name"]);
const ACTIONS: readonly Action[] = ["mask", "hash", "restore", "block"];
const ACTION = { type: "string", enum: ACTIONS } as const;

export default defineGuardrail<PiiConfig>({
  name: "pii",
  stability: "beta",
  summary: "Personal data: masked, hashed, restored on the way back, or blocked.",
  config: {
    type: "object",
    properties: {
      entities: {
        type: "array",
        uniqueItems: true,
        items: { type: "string", enum: ENTITY_NAMES, description: "One kind." },
        description:
          "The kinds of personal data to look for. Without it: all but `nl_bsn`. Example: `[email, phone, card]`.",
      },
      names: {
        type: "array",
        items: {
          type: "string",
          minLength: 1,
          maxLength: 1_000_000,
          description: "A name, or one for each line.",
        },
        default: [],
        description:
          'Names of people to look for, whole words. Example: `[Ada Lovelace, "${file:names.txt}"]`.',
      },
      action: {
        ...ACTION,
        default: "mask",
        description:
          "The action for a match. `mask`: `[EMAIL]` replaces it. `hash`: `[EMAIL:0a1b…]`, the same for the same text. `restore`: " +
          "`[EMAIL_1]` goes upstream, and the reply has the original again; in what a model writes of itself it masks. `block`: the request is refused.",
      },
      actions: {
        type: "object",
        additionalProperties: false,
        properties: Object.fromEntries(
          [...ENTITY_NAMES, "name"].map((name) => [
            name,
            { ...ACTION, description: `The action for \`${name}\`.` },
          ]),
        ),
        default: {},
        description: "Actions for single kinds. Example: `{ card: block, ip: hash }`.",
      },
      hash_secret: {
        type: "string",
        minLength: 16,
        "x-secret": true,
        description:
          "The key of the hashes, as a reference: `${env:PII_HASH_SECRET}`. Without it a random one, and hashes differ after every reload.",
      },
    },
  },
  check: ({ entities, names }) =>
    entities?.length === 0 && namesOf(names).length === 0
      ? [
          {
            path: ["entities"],
            message: "The guardrail has nothing to look for.",
            fix: "Name a kind, or leave `entities` out.",
          },
        ]
      : [],
  sample: ({ entities = defaults(), names }) => {
    const [first] = entities;
    return `x ${first === undefined ? namesOf(names)[0] : ENTITIES[first].sample} y`;
  },
  create(config) {
    const looking = lookingFor(config);
    const hash = hasher(config.hash_secret);
    return {
      reach: reachOf(looking.map(({ rule }) => rule)),
      check(text, _signal, context) {
        const folded = foldText(text, { lowerCase: false, isJson: context.part === "arguments" });
        // Most texts have no digit, and then few kinds can be in them.
        const possible = DIGIT.test(folded.text)
          ? looking
          : looking.filter(({ needsDigit }) => !needsDigit);
        const places = possible.flatMap((one) => {
          const treatment = treatmentOf(one, context, hash);
          return findPlaces(folded, { rule: one.rule, treatment, context });
        });
        return verdictOf(places);
      },
    };
  },
});

function defaults(): EntityName[] {
  return ENTITY_NAMES.filter((name) => ENTITIES[name].isDefault);
}

function lookingFor({ entities = defaults(), names, action, actions }: PiiConfig): Looking[] {
  const looking = entities.flatMap((name): Looking[] => {
    const { word, rules } = ENTITIES[name];
    const needsDigit = !WITHOUT_DIGITS.has(name);
    return rules.map((rule) => ({
      rule,
      reason: name,
      word,
      action: actions[name] ?? action,
      needsDigit,
    }));
  });
  const list = namesOf(names);
  if (list.length > 0)
    looking.push({
      rule: nameRule(list),
      reason: "name",
      word: "NAME",
      action: actions.name ?? action,
      needsDigit: false,
    });
  return looking;
}

function treatmentOf(
  { action, reason, word }: Looking,
  { direction }: TextContext,
  hash: (text: string) => string,
): Treatment {
  switch (action) {
    case "block":
      return { kind: "block", reason };
    case "hash":
      return {
        kind: "edit",
        replace: (match) => ({
          replacement: `[${word}:${hash(`${word} ${spelling(reason, match)}`)}]`,
        }),
      };
    case "restore":
      if (direction === "input")
        return { kind: "edit", replace: () => ({ replacement: word, restore: true }) };
      return { kind: "edit", replace: () => ({ replacement: `[${word}]` }) };
    case "mask":
      return { kind: "edit", replace: () => ({ replacement: `[${word}]` }) };
    default:
      return action satisfies never;
  }
}

/**
 * One spelling of what is the same, so that it has the same hash: numbers go by their digits and
 * letters alone.
 */
function spelling(reason: string, match: string): string {
  const small = match.toLowerCase();
  return AS_WRITTEN.has(reason) ? small : small.replace(/[^a-z0-9]/g, "");
}

function hasher(secret: Secret | undefined): (text: string) => string {
  const key = secret?.reveal() ?? randomBytes(32);
  return (text) => createHmac("sha256", key).update(text).digest("hex").slice(0, HASH_LENGTH);
}
