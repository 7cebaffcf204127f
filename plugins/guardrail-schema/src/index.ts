/** @sluice/guardrail-schema: a reply must be JSON of a schema. */

import { defineGuardrail, parseJson } from "@sluice/kit";
import type { ConfigFault, TextContext, Verdict } from "@sluice/contract";
import { type Repair, repaired } from "./repair.ts";
import { compileSchema } from "./validate.ts";

interface SchemaConfig {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly repair: readonly Repair[];
  readonly ask_again?: boolean;
}

export default defineGuardrail<SchemaConfig>({
  name: "schema",
  stability: "beta",
  summary: "Replies must be JSON of a schema; small faults can be repaired.",
  scope: ["content"],
  config: {
    type: "object",
    required: ["schema"],
    properties: {
      schema: {
        type: "object",
        description:
          "JSON Schema (2020-12) that a reply must fit. Patterns are those of RE2. Example: `{ type: object, required: [answer] }`.",
      },
      repair: {
        type: "array",
        uniqueItems: true,
        default: [],
        items: {
          type: "string",
          enum: ["fences", "surrounding_text", "trailing_commas"],
          description: "One repair.",
        },
        description:
          "fences: a Markdown fence around the reply goes; surrounding_text: what stands before and after the first object or list goes; trailing_commas: commas before a closing bracket go. Example: `[fences]`.",
      },
      ask_again: {
        type: "boolean",
        default: false,
        description:
          "Requests a reply once more when it does not fit and cannot be repaired. A second one is refused. Each step that names the guardrail needs `ask_again: true` too.",
      },
    },
  },
  check: ({ schema }) => schemaFaults(schema),
  sample: () => '{"a reply": that is no JSON',
  create({ schema, repair, ask_again: asksAgain = false }) {
    const validate = compileSchema(schema);
    const block = (reason: string): Verdict => ({
      kind: "block",
      reason,
      ...(asksAgain ? { askAgain: true } : {}),
    });
    return {
      // A part of a document does not determine the rest.
      reach: Infinity,
      asksAgain,
      check(text, _signal, context) {
        return isReply(context) ? judge(text, { validate, repair, block }) : { kind: "allow" };
      },
    };
  },
});

/**
 * The text of an answer. The other texts of a reply (a link's title, a transcript) are not the
 * requested JSON.
 */
function isReply({ direction, part, place }: TextContext): boolean {
  if (direction !== "output" || part !== "content") return false;
  return !/(?:^|[./])(?:annotations|audio|citations|transcript|logprobs|title|url)(?:[./]|$)/.test(
    place,
  );
}

interface Judgement {
  readonly validate: ReturnType<typeof compileSchema>;
  readonly repair: readonly Repair[];
  readonly block: (reason: string) => Verdict;
}

function judge(text: string, { validate, repair, block }: Judgement): Verdict {
  const asItIs = parse(text);
  if (asItIs !== undefined) {
    const keyword = validate(asItIs.value);
    return keyword === undefined ? { kind: "allow" } : block(`schema/${keyword}`);
  }
  if (repair.length === 0) return block("schema/no_json");
  const json = repaired(text, repair);
  const value = json === undefined ? undefined : parse(json);
  if (json === undefined || value === undefined) return block("schema/no_json");
  const keyword = validate(value.value);
  if (keyword !== undefined) return block(`schema/${keyword}`);
  return {
    kind: "edit",
    spans: [{ start: 0, end: text.length, replacement: json }],
    reason: "schema/repaired",
  };
}

/** The value, in a box: `null` is a value too. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) as unknown };
  } catch {
    return undefined;
  }
}

function schemaFaults(schema: object): ConfigFault[] {
  try {
    compileSchema(schema);
    return [];
  } catch (error) {
    const said = error instanceof Error ? error.message : "unknown";
    return [
      {
        path: ["schema"],
        message: `The schema is at fault: ${said}`,
        fix: "correct it: JSON Schema 2020-12, patterns of RE2",
      },
    ];
  }
}
