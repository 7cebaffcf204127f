/** What is measured. One row each. */

/** One kind of load. */
export interface Scenario {
  readonly name: string;
  readonly stream: boolean;
  /** What is called. Default: chat. */
  readonly operation?: "embeddings" | "images";
  /** The upstream sends an event every `PACE_MS`, as models do, instead of as fast as it can. */
  readonly isPaced?: boolean;
  /**
   * The upstream sends the events joined in `BURST_CHUNKS` chunks, as fast models behind a busy
   * proxy do.
   */
  readonly isBurst?: boolean;
  /**
   * The model speaks another dialect than the client: Anthropic's. Targets that do not translate
   * get the reference dialect.
   */
  readonly isTranslated?: boolean;
  /**
   * The client speaks Anthropic's messages. The upstream speaks chat completions, or messages too
   * with `isTranslated`. Targets that forward paths get messages from the upstream.
   */
  readonly isMessages?: boolean;
  /**
   * The client speaks OpenAI's responses. The upstream speaks chat completions, or responses too
   * with `isNative`. Targets that forward paths get responses from the upstream.
   */
  readonly isResponses?: boolean;
  readonly isNative?: boolean;
  /**
   * The client speaks Gemini's generateContent. The upstream speaks chat completions, or Gemini's
   * API too with `isNative`.
   */
  readonly isGemini?: boolean;
  /** The client speaks the legacy completions, for which no upstream has a lane. */
  readonly isCompletions?: boolean;
  /** Connections, each with one request in flight. */
  readonly concurrency: number;
}

/** Events of a streamed reply, the role, the finish reason and the usage not counted. */
export const STREAM_EVENTS = 200;

/** Milliseconds between two events of a paced stream. */
export const PACE_MS = 2;

/** The `user` of a request whose stream the upstream shall pace. */
export const PACED_USER = "bench-paced";

/** Chunks of a burst stream, the end mark in the last one. */
export const BURST_CHUNKS = 4;

/** The `user` of a request whose stream the upstream shall send in a burst. */
export const BURST_USER = "bench-burst";

/** The model of translated streams. */
export const TRANSLATED_MODEL = "claude-haiku-4-5";

/** The model whose upstream speaks responses. */
export const NATIVE_MODEL = "gpt-4.1-mini";

/** The model whose upstream speaks Gemini's API. */
export const GEMINI_MODEL = "gemini-2.5-flash";

/** The model that clients ask for, on every target. */
export const MODEL = "gpt-4o-mini";

/** The model that the upstream says it is: a dated snapshot, as the reference API answers. */
export const SNAPSHOT_MODEL = "gpt-4o-mini-2024-07-18";

export const SCENARIOS: readonly Scenario[] = [
  { name: "whole c=1", stream: false, concurrency: 1 },
  { name: "whole c=32", stream: false, concurrency: 32 },
  { name: "stream c=1", stream: true, concurrency: 1 },
  { name: "stream c=16", stream: true, concurrency: 16 },
  { name: "paced stream c=32", stream: true, concurrency: 32, isPaced: true },
  { name: "paced stream c=64", stream: true, concurrency: 64, isPaced: true },
  { name: "burst stream c=32", stream: true, concurrency: 32, isBurst: true },
  {
    name: "translated burst c=32",
    stream: true,
    concurrency: 32,
    isBurst: true,
    isTranslated: true,
  },
  { name: "messages burst c=32", stream: true, concurrency: 32, isBurst: true, isMessages: true },
  {
    name: "messages to messages burst c=32",
    stream: true,
    concurrency: 32,
    isBurst: true,
    isMessages: true,
    isTranslated: true,
  },
  { name: "responses burst c=32", stream: true, concurrency: 32, isBurst: true, isResponses: true },
  {
    name: "responses to responses burst c=32",
    stream: true,
    concurrency: 32,
    isBurst: true,
    isResponses: true,
    isNative: true,
  },
  { name: "embeddings 3 MB", stream: false, concurrency: 2, operation: "embeddings" },
  { name: "image 5 MB", stream: false, concurrency: 2, operation: "images" },
];

/** Streams of faces that no other target serves: `npm run bench:faces` alone measures them. */
export const FACE_SCENARIOS: readonly Scenario[] = [
  { name: "gemini burst c=32", stream: true, concurrency: 32, isBurst: true, isGemini: true },
  {
    name: "gemini to gemini burst c=32",
    stream: true,
    concurrency: 32,
    isBurst: true,
    isGemini: true,
    isNative: true,
  },
  {
    name: "completions burst c=32",
    stream: true,
    concurrency: 32,
    isBurst: true,
    isCompletions: true,
  },
];

/**
 * Digits in the prompt of a chat request. The load writes the request's number over them: no two
 * prompts are alike.
 */
export const PROMPT_NUMBER = "0000000000";

/** Digits in a header of a request. The load writes the number of a key over them. */
export const KEY_NUMBER = "000000000k";

/** Inputs of an embeddings request, and numbers in each vector: 3 MB. */
export const EMBEDDINGS_INPUTS = 100;
export const EMBEDDINGS_DIMENSIONS = 1_536;

/** Bytes of an image: 5 MB as base64. */
export const IMAGE_BYTES = 3_750_000;

/** The path of a scenario's requests. */
export function requestPath({
  operation,
  isMessages,
  isResponses,
  isGemini,
  isNative,
  isCompletions,
}: Scenario): string {
  if (isGemini === true)
    return `/v1beta/models/${isNative === true ? GEMINI_MODEL : MODEL}:streamGenerateContent?alt=sse`;
  if (isCompletions === true) return "/v1/completions";
  if (isMessages === true) return "/v1/messages";
  if (isResponses === true) return "/v1/responses";
  if (operation === "embeddings") return "/v1/embeddings";
  return operation === "images" ? "/v1/images/generations" : "/v1/chat/completions";
}

/** The body of the request that every target gets. */
export function requestBody(scenario: Scenario): string {
  if (scenario.operation === "embeddings") {
    const input = Array.from(
      { length: EMBEDDINGS_INPUTS },
      (_, index) => `The Rhine has ${index} countries.`,
    );
    return JSON.stringify({ model: MODEL, input, user: "bench" });
  }
  if (scenario.operation === "images")
    return JSON.stringify({
      model: MODEL,
      prompt: "The Rhine near Hoek van Holland.",
      user: "bench",
    });
  const system = `You answer in one sentence. Question ${PROMPT_NUMBER}.`;
  const content = "Where does the Rhine end, and how many countries has it touched by then?";
  const user = scenario.isPaced ? PACED_USER : scenario.isBurst ? BURST_USER : "bench";
  const common = {
    model: scenario.isTranslated ? TRANSLATED_MODEL : scenario.isNative ? NATIVE_MODEL : MODEL,
    temperature: 0.2,
    ...(scenario.stream && { stream: true }),
  };
  const asked = { role: "user", content };
  // This API has no member for the user: the upstream looks for the name anywhere.
  if (scenario.isGemini === true)
    return JSON.stringify({
      contents: [{ role: "user", parts: [{ text: content }] }],
      systemInstruction: { parts: [{ text: `${system} ${user}` }] },
      generationConfig: { temperature: 0.2 },
    });
  if (scenario.isCompletions === true)
    return JSON.stringify({ ...common, prompt: `${system} ${content}`, user });
  if (scenario.isMessages === true)
    return JSON.stringify({
      ...common,
      max_tokens: 1_024,
      system,
      messages: [asked],
      metadata: { user_id: user },
    });
  if (scenario.isResponses === true)
    return JSON.stringify({ ...common, store: false, instructions: system, input: [asked], user });
  const messages = [{ role: "system", content: system }, asked];
  return JSON.stringify({ ...common, messages, user });
}
