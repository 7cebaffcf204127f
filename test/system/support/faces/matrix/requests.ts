/**
 * A request of each face for each feature. Every element has a text or a number that occurs nowhere
 * else: `zq…zq`, or one of `NUMBERS`.
 */

import { SEQUENCE } from "../apis/said.ts";
import type { FACE_WIRES } from "../wires.ts";
import type { Feature } from "./providers.ts";

export type FaceWire = (typeof FACE_WIRES)[number];

/** Numbers that stand for an element. */
export const NUMBERS: readonly number[] = [0.375, 1234];
const [TEMPERATURE, MAX_TOKENS] = NUMBERS as [number, number];

/** Path and body of a request for a model. */
export interface PlantedRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Features that are asked by a request of their own; the others are about replies. */
export const ASKED = ["text", "parallel tools", "image", "structured output"] as const;
export type AskedFeature = (typeof ASKED)[number];

/** The request of a cell. */
export function plantedRequest(
  face: FaceWire,
  feature: Feature,
  model: string,
  stream: boolean,
): PlantedRequest {
  const asked = ASKED.find((name) => name === feature) ?? "text";
  return BUILDERS[face](asked, model, stream);
}

/** A picture: base64 whose letters are the element. */
const PICTURE = `iVBORw0KGgo${"zqpicturezq"}AAAAAA`;
const schemaOf = (element: string) => ({
  type: "object",
  properties: { [`zq${element}membezq`]: { type: "string", description: `zq${element}meaningzq` } },
  required: [`zq${element}membezq`],
  additionalProperties: false,
});
const FORMAT = schemaOf("format");
/** Two tools, called at once and answered at once. */
const TOOLS = ["first", "second"].map((name) => ({
  name: `zq${name}toolzq`,
  description: `zq${name}purposezq`,
  schema: schemaOf(name),
  id: `call_${name}`,
  input: { [`zq${name}membezq`]: `zq${name}argumentzq` },
  result: `zq${name}resultzq`,
}));

type Builder = (feature: AskedFeature, model: string, stream: boolean) => PlantedRequest;

const messages: Builder = (feature, model, stream) => {
  const user = (content: unknown) => ({ role: "user", content });
  const base = { model, stream, max_tokens: MAX_TOKENS };
  const parts: Readonly<Record<AskedFeature, object>> = {
    text: {
      system: [{ type: "text", text: "zqsystemzq" }],
      messages: [
        user("zqquestionzq"),
        { role: "assistant", content: [{ type: "text", text: "zqanswerzq" }] },
        user([{ type: "text", text: "zqsecondzq" }]),
      ],
      temperature: TEMPERATURE,
      stop_sequences: [SEQUENCE],
    },
    "parallel tools": {
      messages: [
        user("zqquestionzq"),
        {
          role: "assistant",
          content: [
            { type: "text", text: "zqbeforezq" },
            ...TOOLS.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
          ],
        },
        user(
          TOOLS.map(({ id, result }) => ({
            type: "tool_result",
            tool_use_id: id,
            content: [{ type: "text", text: result }],
          })),
        ),
      ],
      tools: TOOLS.map(({ name, description, schema }) => ({
        name,
        description,
        input_schema: schema,
      })),
    },
    image: {
      messages: [
        user([
          { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } },
          { type: "text", text: "zqquestionzq" },
        ]),
      ],
    },
    "structured output": {
      messages: [user("zqquestionzq")],
      output_config: { format: { type: "json_schema", schema: FORMAT } },
    },
  };
  return { path: "/v1/messages", body: { ...base, ...parts[feature] } };
};

const responses: Builder = (feature, model, stream) => {
  const user = (...content: readonly object[]) => ({ role: "user", content });
  const text = (said: string) => ({ type: "input_text", text: said });
  const base = { model, stream, store: false, max_output_tokens: MAX_TOKENS };
  const answer = (said: string) => ({
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: said, annotations: [] }],
  });
  const parts: Readonly<Record<AskedFeature, object>> = {
    text: {
      instructions: "zqsystemzq",
      input: [
        { role: "developer", content: "zqdeveloperzq" },
        user(text("zqquestionzq")),
        answer("zqanswerzq"),
        user(text("zqsecondzq")),
      ],
      temperature: TEMPERATURE,
    },
    "parallel tools": {
      input: [
        user(text("zqquestionzq")),
        answer("zqbeforezq"),
        ...TOOLS.map(({ id, name, input }) => ({
          type: "function_call",
          call_id: id,
          name,
          arguments: JSON.stringify(input),
        })),
        ...TOOLS.map(({ id, result }) => ({
          type: "function_call_output",
          call_id: id,
          output: result,
        })),
      ],
      tools: TOOLS.map(({ name, description, schema }) => ({
        type: "function",
        name,
        description,
        parameters: schema,
        strict: true,
      })),
      parallel_tool_calls: true,
    },
    image: {
      input: [
        user(
          {
            type: "input_image",
            detail: "auto",
            image_url: `data:image/png;base64,${PICTURE}`,
          },
          text("zqquestionzq"),
        ),
      ],
    },
    "structured output": {
      input: [user(text("zqquestionzq"))],
      text: { format: { type: "json_schema", name: "zqformatzq", schema: FORMAT, strict: true } },
    },
  };
  return { path: "/v1/responses", body: { ...base, ...parts[feature] } };
};

const gemini: Builder = (feature, model, stream) => {
  const user = (...parts: readonly object[]) => ({ role: "user", parts });
  const text = (said: string) => ({ text: said });
  const config = (more: object = {}) => ({ maxOutputTokens: MAX_TOKENS, ...more });
  const parts: Readonly<Record<AskedFeature, Record<string, unknown>>> = {
    text: {
      systemInstruction: { parts: [text("zqsystemzq")] },
      contents: [
        user(text("zqquestionzq")),
        { role: "model", parts: [text("zqanswerzq")] },
        user(text("zqsecondzq")),
      ],
      generationConfig: config({ temperature: TEMPERATURE, stopSequences: [SEQUENCE] }),
    },
    "parallel tools": {
      contents: [
        user(text("zqquestionzq")),
        {
          role: "model",
          parts: [
            text("zqbeforezq"),
            ...TOOLS.map(({ name, input }) => ({ functionCall: { name, args: input } })),
          ],
        },
        user(
          ...TOOLS.map(({ name, result }) => ({
            functionResponse: { name, response: { output: result } },
          })),
        ),
      ],
      tools: [
        {
          functionDeclarations: TOOLS.map(({ name, description, schema }) => ({
            name,
            description,
            parametersJsonSchema: schema,
          })),
        },
      ],
      generationConfig: config(),
    },
    image: {
      contents: [
        user({ inlineData: { mimeType: "image/png", data: PICTURE } }, text("zqquestionzq")),
      ],
      generationConfig: config(),
    },
    "structured output": {
      contents: [user(text("zqquestionzq"))],
      generationConfig: config({
        responseMimeType: "application/json",
        responseJsonSchema: FORMAT,
      }),
    },
  };
  const action = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  return { path: `/v1beta/models/${model}:${action}`, body: parts[feature] };
};

const completions: Builder = (feature, model, stream) => {
  const base = { model, stream, max_tokens: MAX_TOKENS, prompt: "zqquestionzq" };
  const parts: Readonly<Record<AskedFeature, object>> = {
    text: { temperature: TEMPERATURE, stop: [SEQUENCE] },
    "parallel tools": {
      tools: TOOLS.map(({ name, description, schema }) => ({
        type: "function",
        function: { name, description, parameters: schema },
      })),
    },
    image: { prompt: [{ type: "image_url", image_url: { url: "https://zqpicturezq.test/" } }] },
    "structured output": {
      response_format: { type: "json_schema", json_schema: { name: "a", schema: FORMAT } },
    },
  };
  return { path: "/v1/completions", body: { ...base, ...parts[feature] } };
};

const BUILDERS: Readonly<Record<FaceWire, Builder>> = { messages, responses, gemini, completions };
