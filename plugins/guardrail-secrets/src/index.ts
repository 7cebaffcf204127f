/** @sluice/guardrail-secrets: finds keys, tokens and passwords, and masks or blocks them. */

import { defineGuardrail } from "@sluice/kit";
import {
  findPlaces,
  foldText,
  reachOf,
  type TextRule,
  type Treatment,
  verdictOf,
} from "@sluice/kit/guard";
import { RULE_NAMES, type RuleName, RULES, type SecretRule } from "./rules.ts";

type Action = "mask" | "block";

interface SecretsConfig {
  readonly rules: readonly RuleName[];
  readonly except: readonly RuleName[];
  readonly action: Action;
  readonly long_secrets: Action;
  readonly replacement: string;
}

const ACTION = { type: "string", enum: ["mask", "block"] } as const;
const NAME = { type: "string", enum: RULE_NAMES, description: "The name of a rule." } as const;

/** Without quotes, backslashes and line breaks: it may come to stand inside a JSON string. */
const PLAIN = String.raw`^[^"\\\x00-\x1f]*$`;

export default defineGuardrail<SecretsConfig>({
  name: "secrets",
  stability: "beta",
  summary: "Credentials: keys, tokens and passwords, masked or blocked.",
  config: {
    type: "object",
    properties: {
      rules: {
        type: "array",
        minItems: 1,
        uniqueItems: true,
        items: NAME,
        default: RULE_NAMES,
        description:
          "The kinds of credentials to look for. Default: all. Example: `[aws, github, private_key]`.",
      },
      except: {
        type: "array",
        uniqueItems: true,
        items: NAME,
        default: [],
        description: "Kinds that are not looked for. Example: `[assignment]`.",
      },
      action: {
        ...ACTION,
        default: "block",
        description:
          "The action for a match: `mask` replaces it with `replacement`, `block` refuses the request.",
      },
      long_secrets: {
        ...ACTION,
        default: "block",
        description:
          "The action for private keys and JSON web tokens. A mask needs their end: a window over a stream then holds " +
          "back 7,000 characters, where 300 do without.",
      },
      replacement: {
        type: "string",
        maxLength: 64,
        pattern: PLAIN,
        default: "[SECRET]",
        description: 'What stands in the place of a credential. Example: `"[REMOVED]"`.',
      },
    },
  },
  check: (config) =>
    namesOf(config).length === 0
      ? [
          {
            path: ["except"],
            message: "No rule is left to look for.",
            fix: "Take a name out of `except`.",
          },
        ]
      : [],
  sample: (config) => `x ${RULES[namesOf(config)[0] ?? "aws"].sample.join("")} y`,
  create(config) {
    const edit: Treatment = { kind: "edit", replace: () => ({ replacement: config.replacement }) };
    const looking = namesOf(config).map(
      (name): { readonly rule: TextRule; readonly treatment: Treatment } => {
        const { rule, whole }: SecretRule = RULES[name];
        const action = whole === undefined ? config.action : config.long_secrets;
        return action === "block"
          ? { rule, treatment: { kind: "block", reason: name } }
          : { rule: whole ?? rule, treatment: edit };
      },
    );
    return {
      reach: reachOf(looking.map(({ rule }) => rule)),
      check(text, _signal, context) {
        const folded = foldText(text, { lowerCase: false, isJson: context.part === "arguments" });
        return verdictOf(
          looking.flatMap(({ rule, treatment }) =>
            findPlaces(folded, { rule, treatment, context }),
          ),
        );
      },
    };
  },
});

function namesOf({ rules, except }: SecretsConfig): RuleName[] {
  return rules.filter((name) => !except.includes(name));
}
