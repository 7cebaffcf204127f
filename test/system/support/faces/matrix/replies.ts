/** What each face makes of a reply: stop reasons and usage, by the rules of its dialect. */

import { ask, openaiClientOf, type Place } from "../face-clients.ts";
import type { SaidParts, SaidStop } from "../apis/said.ts";
import type { MatrixProvider } from "./providers.ts";
import type { FaceWire } from "./requests.ts";

/** What a client reads of a reply. */
export interface Read {
  readonly text: string;
  readonly calls: readonly unknown[];
  readonly stop: string;
  /** The object of the usage, as the client gets it. */
  readonly usage: unknown;
}

/** Asks by the SDK of a face; for completions by OpenAI's. */
export async function readReply(
  face: FaceWire,
  place: Place,
  model: string,
  stream: boolean,
): Promise<Read> {
  if (face === "completions") return readCompletion(place, model, stream);
  const answered = await ask(face, place, { model, prompt: "Hi", stream, hasTool: true });
  const { text, calls, stop } = answered;
  const raw = JSON.parse(answered.raw) as { usage?: unknown } | { usageMetadata?: unknown }[];
  const usage = Array.isArray(raw) ? raw.at(-1)?.usageMetadata : raw.usage;
  return { text, calls, stop, usage };
}

async function readCompletion(place: Place, model: string, stream: boolean): Promise<Read> {
  const client = openaiClientOf(place);
  const asked = { model, prompt: "Hi", max_tokens: 500 };
  if (!stream) {
    const { choices, usage } = await client.completions.create(asked);
    const { text = "", finish_reason: stop } = choices[0] ?? {};
    return { text, calls: [], stop: String(stop), usage };
  }
  const options = { ...asked, stream: true as const, stream_options: { include_usage: true } };
  let [text, stop, used]: [string, string, unknown] = ["", "", undefined];
  for await (const { choices, usage } of await client.completions.create(options)) {
    const [choice] = choices;
    text += choice?.text ?? "";
    // The SDK's type has no null, which every event but the last one says.
    stop = (choice?.finish_reason as string | null | undefined) ?? stop;
    used = usage ?? used;
  }
  return { text, calls: [], stop, usage: used };
}

const STOPS: Readonly<Record<FaceWire, Readonly<Record<SaidStop, string>>>> = {
  messages: {
    end: "end_turn",
    length: "max_tokens",
    filter: "refusal",
    sequence: "stop_sequence",
    calls: "tool_use",
  },
  responses: {
    end: "completed",
    length: "max_output_tokens",
    filter: "content_filter",
    sequence: "completed",
    calls: "completed",
  },
  gemini: {
    end: "STOP",
    length: "MAX_TOKENS",
    filter: "SAFETY",
    sequence: "STOP",
    calls: "STOP",
  },
  completions: {
    end: "stop",
    length: "length",
    filter: "content_filter",
    sequence: "stop",
    calls: "stop",
  },
};

/** Providers whose API says that a reply stopped at a sequence. */
const NAMES_SEQUENCES: ReadonlySet<MatrixProvider> = new Set(["anthropic", "bedrock", "cohere"]);

/** The reasons that a provider's API has. */
export function stopsOf(provider: MatrixProvider): readonly SaidStop[] {
  const all: readonly SaidStop[] = ["end", "length", "filter", "sequence", "calls"];
  return provider === "mistral" ? all.filter((stop) => stop !== "filter") : all;
}

/** The stop reason that a client has to get. */
export function expectedStop(face: FaceWire, provider: MatrixProvider, stop: SaidStop): string {
  const isSaid = stop !== "sequence" || NAMES_SEQUENCES.has(provider);
  return STOPS[face][isSaid ? stop : "end"];
}

/** The parts of the tokens that a provider's API says. */
const PARTS: Readonly<Record<MatrixProvider, readonly (keyof SaidParts)[]>> = {
  openai: ["cached", "reasoning"],
  azure: ["cached", "reasoning"],
  anthropic: ["cached", "written"],
  gemini: ["cached", "reasoning"],
  bedrock: ["cached", "written"],
  compatible: ["cached", "reasoning"],
  mistral: ["cached", "reasoning"],
  cohere: ["cached"],
};

/** The usage that a client has to get, of tokens of prompt and reply and their parts. */
export function expectedUsage(
  face: FaceWire,
  provider: MatrixProvider,
  [input, output]: readonly [number, number],
  parts: SaidParts,
): object {
  const part = (name: keyof SaidParts): number =>
    PARTS[provider].includes(name) ? (parts[name] ?? 0) : 0;
  const [cached, written, reasoning] = [part("cached"), part("written"), part("reasoning")];
  switch (face) {
    case "messages":
      return {
        input_tokens: input - cached - written,
        cache_read_input_tokens: cached,
        ...(written === 0 ? {} : { cache_creation_input_tokens: written }),
        output_tokens: output,
      };
    case "responses":
      return {
        input_tokens: input,
        input_tokens_details: { cached_tokens: cached },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: reasoning },
        total_tokens: input + output,
      };
    case "gemini":
      return {
        promptTokenCount: input,
        cachedContentTokenCount: cached,
        candidatesTokenCount: output - reasoning,
        ...(reasoning === 0 ? {} : { thoughtsTokenCount: reasoning }),
        totalTokenCount: input + output,
      };
    case "completions":
      return {
        prompt_tokens: input,
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens: output,
        total_tokens: input + output,
      };
  }
}
