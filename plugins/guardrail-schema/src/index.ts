/** @sluice/guardrail-schema: a reply must be JSON of a schema. */

import { defineGuardrail } from "@sluice/kit";
import type { ConfigFault, TextContext, Verdict } from "@sluice/spec";
import { type Repair, repaired } from "./repair.ts";
import { compileSchema } from "./validate.ts";

interface SchemaConfig {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly repair: readonly Repair[];
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
        items: { type: "string", enum: ["fences", "surrounding_text", "trailing_commas"], description: "One repair." },
        description:
          "fences: a Markdown fence around the reply goes; surrounding_text: what stands before and after the first object or list goes; trailing_commas: commas before a closing bracket go. Example: `[fences]`.",
      },
    },
  },
  check: ({ schema }) => schemaFaults(schema),
  sample: () => '{"a reply": that is no JSON',
  create({ schema, repair }) {
    const validate = compileSchema(schema);
    return {
      // Half a document says nothing about the rest.
      reach: Infinity,
      check(text, _signal, context) {
        return isReply(context) ? judge(text, validate, repair) : { kind: "allow" };
      },
    };
  },
});

/** The text of an answer. The other texts of a reply, a link's title or what a sound says, are no JSON of anybody's. */
function isReply({ direction, part, place }: TextContext): boolean {
  if (direction !== "output" || part !== "content") return false;
  return !/(?:^|[./])(?:annotations|audio|citations|transcript|logprobs|title|url)(?:[./]|$)/.test(place);
}

function judge(text: string, validate: ReturnType<typeof compileSchema>, repair: readonly Repair[]): Verdict {
  const asItIs = parse(text);
  if (asItIs !== undefined) return verdictOf(validate(asItIs.value));
  if (repair.length === 0) return { kind: "block", reason: "schema/no_json" };
  const json = repaired(text, repair);
  const value = json === undefined ? undefined : parse(json);
  if (json === undefined || value === undefined) return { kind: "block", reason: "schema/no_json" };
  const verdict = verdictOf(validate(value.value));
  if (verdict.kind === "block") return verdict;
  return { kind: "edit", spans: [{ start: 0, end: text.length, replacement: json }], reason: "schema/repaired" };
}

function verdictOf(keyword: string | undefined): Verdict {
  return keyword === undefined ? { kind: "allow" } : { kind: "block", reason: `schema/${keyword}` };
}

/** The value, in a box: `null` is a value too. */
function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
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
      { path: ["schema"], message: `The schema is at fault: ${said}`, fix: "correct it: JSON Schema 2020-12, patterns of RE2" },
    ];
  }
}
