/** @sluice/guardrail-limits: lengths, languages, tools and models that a route allows. */

import { defineGuardrail, isObject } from "@sluice/kit";
import { bodyTexts } from "@sluice/kit/guard";
import type {
  JsonObject,
  JsonValue,
  RequestFacts,
  RequestSample,
  TextContext,
  TextPart,
  Verdict,
} from "@sluice/contract";
import {
  type LengthConfig,
  type LimitsConfig,
  limitsFaults,
  limitsSchema,
  type NamesConfig,
} from "./config.ts";
import { languageOf } from "./language.ts";
import { SAMPLES } from "./samples.ts";

const ALLOW: Verdict = Object.freeze({ kind: "allow" });
/** Texts that people write, not programs. */
const IN_LANGUAGE: ReadonlySet<TextPart> = new Set<TextPart>([
  "user",
  "assistant",
  "prompt",
  "embedding",
  "content",
]);

export default defineGuardrail<LimitsConfig>({
  name: "limits",
  stability: "beta",
  summary: "Limits lengths, languages, tools and models.",
  config: limitsSchema,
  check: limitsFaults,
  sample: sampleOf,
  create(config) {
    const { languages, reply, tools, models, prompt } = config;
    return {
      // A length is known at every character; a language, and a number of tokens, when the text has
      // ended.
      reach: languages !== undefined || reply?.max_tokens !== undefined ? Infinity : 0,
      check(text, _signal, context) {
        const { direction, part } = context;
        const tooLong = lengthVerdict(
          text,
          direction === "input" ? config.message : reply,
          context,
        );
        if (tooLong !== undefined) return tooLong;
        if (direction === "output" && part === "names" && !isAllowed(text, tools))
          return block("limits/tool");
        return IN_LANGUAGE.has(part) && !speaks(text, config) ? block("limits/language") : ALLOW;
      },
      admit(request) {
        if (!isAllowed(request.model, models)) return block("limits/model");
        if (tools !== undefined && toolNames(request.body).some((name) => !isAllowed(name, tools)))
          return block("limits/tool");
        return prompt !== undefined && isOver(promptLength(request), prompt)
          ? block("limits/prompt_length")
          : ALLOW;
      },
    };
  },
});

function block(reason: string): Verdict {
  return { kind: "block", reason };
}

interface Length {
  readonly characters: number;
  readonly tokens: number;
}

function isOver(
  { characters, tokens }: Length,
  { max_characters = Infinity, max_tokens = Infinity }: LengthConfig,
): boolean {
  return characters > max_characters || tokens > max_tokens;
}

/** An estimate: a fourth of the bytes, as everywhere in the gateway where nothing is counted. */
function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

function lengthVerdict(
  text: string,
  limits: LengthConfig | undefined,
  context: TextContext,
): Verdict | undefined {
  if (limits === undefined) return undefined;
  const reason = context.direction === "input" ? "limits/message_length" : "limits/reply_length";
  const { max_characters: most = Infinity, max_tokens: tokens } = limits;
  if (context.offset + text.length > most) {
    return { kind: "block", reason, start: Math.max(0, most - context.offset), end: text.length };
  }
  // With a bound of tokens the text is whole: the reach is infinite.
  return tokens !== undefined && tokensOf(text) > tokens ? block(reason) : undefined;
}

function speaks(text: string, { languages, unknown_language: unknown }: LimitsConfig): boolean {
  if (languages === undefined) return true;
  const language = languageOf(text);
  return language === undefined ? unknown === "pass" : languages.includes(language);
}

function isAllowed(name: string, names: NamesConfig | undefined): boolean {
  if (names === undefined) return true;
  const fits = (pattern: string): boolean =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  return names.deny?.some(fits) !== true && (names.allow?.some(fits) ?? true);
}

/**
 * The names of a request's tools, in every dialect. One that has no name goes by its type, and one
 * without that by none.
 */
function toolNames({ tools, functions }: JsonObject): string[] {
  return [tools, functions].flatMap((list) =>
    Array.isArray(list) ? (list as JsonValue[]).flatMap(namesOf) : [],
  );
}

function namesOf(tool: JsonValue): string[] {
  if (!isObject(tool)) return [""];
  const declarations = tool.functionDeclarations ?? tool.function_declarations;
  if (Array.isArray(declarations)) return (declarations as JsonValue[]).flatMap(namesOf);
  const name = [tool, tool.function, tool.custom]
    .map((one) => (isObject(one) ? one.name : undefined))
    .find(isText);
  return [name ?? (isText(tool.type) ? tool.type : (Object.keys(tool)[0] ?? ""))];
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function promptLength({ body, operation }: RequestFacts): Length {
  let characters = 0;
  let tokens = 0;
  for (const { text, parts, isFixed, isBare } of bodyTexts(body, operation).texts) {
    // Texts that were joined to be read as one, and lists of names, stand there already;
    // identifiers are no part of the prompt.
    if (parts !== undefined || isFixed === true || isBare === true) continue;
    characters += text.length;
    tokens += tokensOf(text);
  }
  return { characters, tokens };
}

/** A text or a request that these options refuse. */
function sampleOf(config: LimitsConfig): string | RequestSample {
  const { message, prompt, reply, languages, tools, models } = config;
  const length = message ?? prompt ?? reply;
  if (length !== undefined)
    return "x".repeat(
      Math.min(length.max_characters ?? Infinity, (length.max_tokens ?? Infinity) * 4) + 1,
    );
  if (tools !== undefined)
    return { body: { tools: [{ type: "function", function: { name: refusedName(tools) } }] } };
  if (models !== undefined) return { model: refusedName(models) };
  return SAMPLES.find(([code]) => languages?.includes(code) === false)?.[1] ?? "12345 67890";
}

function refusedName({ deny: [first] = [] }: NamesConfig): string {
  return first === undefined ? "sluice-self-test/none" : first.replace(/\*$/, "x");
}
