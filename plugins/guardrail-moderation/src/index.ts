/**
 * @sluice/guardrail-moderation: asks a moderation endpoint in the shape of OpenAI's about every
 * text.
 */

import { defineGuardrail, parseDuration } from "@sluice/kit";
import { createJsonService } from "@sluice/kit/transport";
import type { Secret, Verdict } from "@sluice/contract";
import { Batches } from "./batches.ts";
import { VerdictMemory } from "./memory.ts";
import { readResults } from "./verdicts.ts";

interface ModerationConfig {
  readonly base_url: string;
  readonly api_key?: Secret;
  readonly model: string;
  readonly categories?: readonly string[];
  readonly thresholds: Readonly<Record<string, number>>;
  readonly batch: number;
  readonly piece: number;
  readonly remember: number;
  readonly timeout: string;
  readonly sample: string;
}

const MAX_ANSWER_BYTES = 1_048_576;
/** The overlap of two pieces of a long text, so that a match at their border is found. */
const OVERLAP = 200;
const ALLOW: Verdict = Object.freeze({ kind: "allow" });
const ORIGIN = "^https?://[^/?#@]+(/[^?#]*[^/?#])?$";
const CATEGORY = "^[\\w.:/-]{1,48}$";

export default defineGuardrail<ModerationConfig>({
  name: "moderation",
  stability: "beta",
  summary: "Asks a moderation endpoint in the shape of OpenAI's.",
  isRemote: true,
  config: {
    type: "object",
    properties: {
      base_url: {
        type: "string",
        pattern: ORIGIN,
        default: "https://api.openai.com/v1",
        description:
          "Where the API lives; `/moderations` is added. Nothing of a request changes it. Example: `http://moderation:8080/v1`.",
      },
      api_key: {
        type: "string",
        "x-secret": true,
        description: "The API key, as a reference: `${env:OPENAI_API_KEY}`.",
      },
      model: {
        type: "string",
        minLength: 1,
        default: "omni-moderation-latest",
        description: "The model that judges.",
      },
      categories: {
        type: "array",
        minItems: 1,
        items: { type: "string", pattern: CATEGORY },
        description: "Categories that count. Absent: all. Example: `[violence, self-harm/intent]`.",
      },
      thresholds: {
        type: "object",
        default: {},
        propertyNames: { pattern: CATEGORY },
        additionalProperties: {
          type: "number",
          minimum: 0,
          maximum: 1,
          description: "The least score that counts.",
        },
        description:
          "Scores from which a category counts, in place of the service's own judgement. Example: `{ violence: 0.8 }`.",
      },
      batch: {
        type: "integer",
        minimum: 1,
        maximum: 256,
        default: 32,
        description: "Texts of one request in one call at most.",
      },
      piece: {
        type: "integer",
        minimum: 1_000,
        maximum: 1_000_000,
        default: 30_000,
        description:
          "Characters of a text that are judged together; a longer text is judged in pieces that overlap.",
      },
      remember: {
        type: "integer",
        minimum: 0,
        maximum: 1_000_000,
        default: 10_000,
        description:
          "Verdicts kept in memory by a hash of the text, so that a conversation is not judged again at every turn; 0 keeps none.",
      },
      timeout: {
        type: "string",
        format: "duration",
        default: "10s",
        description: "The timeout of one call. `budget_ms` ends a check before that.",
      },
      sample: {
        type: "string",
        minLength: 1,
        default:
          "I am going to kill you and everyone in your family, and I will enjoy every second of it.",
        description: "A text that the service must flag: it is asked at every load.",
      },
    },
  },
  sample: ({ sample }) => sample,
  create(config, host) {
    const { api_key: key, model, categories, thresholds, piece } = config;
    const service = createJsonService(host, {
      name: `moderation:${config.base_url}`,
      url: `${config.base_url}/moderations`,
      headers: key === undefined ? {} : { authorization: key.map((value) => `Bearer ${value}`) },
      timeoutMs: parseDuration(config.timeout) ?? 10_000,
      maxBytes: MAX_ANSWER_BYTES,
    });
    const policy = { thresholds, ...(categories === undefined ? {} : { categories }) };
    const memory = new VerdictMemory(config.remember);
    const batches = new Batches(async (texts, signal, caller) => {
      const answer = await service.post(JSON.stringify({ model, input: texts }), signal, {
        caller,
      });
      return readResults(answer, texts.length, policy);
    }, config.batch);
    return {
      // A service weighs a text as a whole.
      reach: Infinity,
      check(text, signal, { exchange, caller }) {
        if (text.trim() === "") return ALLOW;
        const hash = VerdictMemory.keyOf(text);
        const known = memory.find(hash);
        if (known !== undefined) return verdictOf(known.reason);
        const asked = Promise.all(
          piecesOf(text, piece).map((one) => batches.ask(exchange, one, signal, caller)),
        );
        return asked.then((reasons) => {
          const reason = reasons.find((one) => one !== undefined);
          memory.keep(hash, reason);
          return verdictOf(reason);
        });
      },
    };
  },
});

function verdictOf(reason: string | undefined): Verdict {
  return reason === undefined ? ALLOW : { kind: "block", reason };
}

function piecesOf(text: string, length: number): string[] {
  if (text.length <= length) return [text];
  const pieces: string[] = [];
  for (let at = 0; at < text.length - OVERLAP; at += length - OVERLAP)
    pieces.push(text.slice(at, at + length));
  return pieces;
}
