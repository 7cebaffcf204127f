/** Gemini's contents, by the Gemini API and by Vertex AI. */

import type { JsonObject } from "@sluice/contract";
import { Misread, type Said, TOKENS, type Turn } from "./model.ts";
import {
  eventStream,
  imageOf,
  knownMembers,
  listAt,
  objectAt,
  pieces,
  textAt,
  turnOf,
} from "./reading.ts";
import { bodyOf, type Simulator } from "./simulator.ts";

const STOPS = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  content_filter: "SAFETY",
} as const;
const MEMBERS = [
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  "labels",
];
const USAGE = {
  promptTokenCount: TOKENS.prompt,
  cachedContentTokenCount: TOKENS.cached,
  candidatesTokenCount: TOKENS.completion - 3,
  thoughtsTokenCount: 3,
  totalTokenCount: TOKENS.prompt + TOKENS.completion,
};

/** How a deployment of it differs. */
export interface GeminiTerms {
  /** The path of a call, without its method. */
  readonly path: RegExp;
  /**
   * The third generation has ids of calls and signatures that it wants back; the second has
   * neither.
   */
  readonly isThird: boolean;
  readonly header: "x-goog-api-key" | "authorization";
}

export function gemini({ path, isThird, header }: GeminiTerms): Simulator {
  return {
    read(request, url) {
      const [resource = "", method] = url.split(/:(?=[a-zA-Z?=]+$)/);
      const stream = method === "streamGenerateContent?alt=sse";
      if (!path.test(resource) || !(stream || method === "generateContent"))
        throw new Misread(`The path is ${url}.`);
      if (request.headers[header] === undefined)
        throw new Misread(`The header ${header} is missing.`);
      const body = bodyOf(request);
      knownMembers(body, MEMBERS, "the body");
      const turns: Turn[] = [];
      for (const [index, content] of listAt(body.contents, "contents").entries()) {
        const turn = turnOf(turns, content.role === "model" ? "assistant" : "user");
        const parts = listAt(content.parts, `contents[${index}].parts`);
        for (const part of parts) readPart(part, turn, isThird, `contents[${index}].parts`);
        const first = parts.find(({ functionCall }) => functionCall !== undefined);
        if (isThird && first !== undefined && first.thoughtSignature !== "c2lnbmVk")
          throw new Misread("The signature is lost.");
      }
      const config = objectAt(body.generationConfig ?? {}, "generationConfig");
      const schema = config.responseJsonSchema ?? config.responseSchema;
      if (schema !== undefined && config.responseMimeType !== "application/json")
        throw new Misread("The reply is to be no JSON.");
      const [offered] = listAt(body.tools ?? [], "tools");
      return {
        system:
          body.systemInstruction === undefined
            ? ""
            : parts(objectAt(body.systemInstruction, "systemInstruction")),
        turns,
        tools: listAt(offered?.functionDeclarations ?? [], "tools").map((tool) => ({
          name: textAt(tool.name, "tools.name"),
          schema: objectAt(tool.parametersJsonSchema ?? tool.parameters ?? {}, "tools.parameters"),
        })),
        schema: schema === undefined ? undefined : objectAt(schema, "responseSchema"),
        maxTokens: config.maxOutputTokens as number | undefined,
        stream,
      };
    },
    reply: (said) => ({
      candidates: [candidate(said, [said.text], true, isThird)],
      usageMetadata: USAGE,
      responseId: "r1",
    }),
    stream: (said) => {
      const texts = pieces(said.text);
      const last = texts.pop() ?? "";
      return eventStream([
        ...texts.map((text) => ({
          candidates: [candidate({ ...said, calls: [] }, [text], false, isThird)],
          usageMetadata: { ...USAGE, candidatesTokenCount: 1 },
        })),
        { candidates: [candidate(said, [last], true, isThird)], usageMetadata: USAGE },
      ]);
    },
  };
}

function parts(content: JsonObject): string {
  return listAt(content.parts, "parts")
    .map(({ text }) => textAt(text, "parts"))
    .join(" ");
}

function readPart(part: JsonObject, turn: Turn, isThird: boolean, place: string): void {
  const idOf = (value: JsonObject): string | undefined => {
    if ((value.id !== undefined) !== isThird)
      throw new Misread(`${place} has an id where there is none, or none.`);
    return value.id as string | undefined;
  };
  if (part.text !== undefined) turn.texts.push(textAt(part.text, place));
  else if (part.inlineData !== undefined) {
    const { mimeType, data } = objectAt(part.inlineData, place);
    if (mimeType === "audio/wav") turn.texts.push("(a sound)");
    else turn.images.push(imageOf(mimeType, data, place));
  } else if (part.functionCall !== undefined) {
    const call = objectAt(part.functionCall, place);
    turn.calls.push({
      id: idOf(call),
      name: textAt(call.name, place),
      input: objectAt(call.args, place),
    });
  } else {
    const answer = objectAt(part.functionResponse, place);
    if (turn.texts.length > 0) throw new Misread(`${place} has a result behind a text.`);
    textAt(answer.name, place);
    const response = objectAt(answer.response, place);
    turn.results.push({
      id: idOf(answer),
      text: typeof response.output === "string" ? response.output : JSON.stringify(response),
    });
  }
}

function candidate(
  { calls, finish }: Said,
  texts: readonly string[],
  isLast: boolean,
  isThird: boolean,
): JsonObject {
  const called = calls.map(({ name, input }, index) => ({
    functionCall: { ...(isThird ? { id: `fc${index}` } : {}), name, args: input },
    ...(isThird && index === 0 ? { thoughtSignature: "c2lnbmVk" } : {}),
  }));
  const said = texts.filter((text) => text !== "").map((text) => ({ text }));
  const content = { role: "model", parts: [...said, ...called] };
  return { index: 0, content, ...(isLast ? { finishReason: STOPS[finish] } : {}) };
}
