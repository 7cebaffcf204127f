/**
 * Two turns of a model that thinks and calls a tool, by the SDK of each face: the first reply is
 * sent back whole.
 */

import type Anthropic from "@anthropic-ai/sdk";
import type { Content } from "@google/genai";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import {
  anthropicClient,
  type FaceName,
  googleClient,
  openaiClientOf,
  type Place,
} from "../face-clients.ts";

/** The question of the first turn. */
interface Asked {
  readonly model: string;
  readonly stream: boolean;
}

const PARAMETERS = {
  type: "object" as const,
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};

/** Asks, answers the call, and asks again. Resolves with the text of the second reply. */
export function thinkTwice(face: FaceName, place: Place, asked: Asked): Promise<string> {
  return TURNS[face](place, asked);
}

type Turns = (place: Place, asked: Asked) => Promise<string>;

const messages: Turns = async (place, { model, stream }) => {
  const client = anthropicClient(place);
  const ask = (conversation: Anthropic.MessageParam[]): Promise<Anthropic.Message> => {
    const body = {
      model,
      max_tokens: 4_000,
      thinking: { type: "enabled" as const, budget_tokens: 2_000 },
      tools: [{ name: "weather", input_schema: PARAMETERS }],
      messages: conversation,
    };
    return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
  };
  const question = { role: "user" as const, content: "Hi" };
  const { content } = await ask([question]);
  const results = content.flatMap((block) =>
    block.type === "tool_use"
      ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "rain" }]
      : [],
  );
  const last = await ask([
    question,
    { role: "assistant", content },
    { role: "user", content: results },
  ]);
  return last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
};

const responses: Turns = async (place, { model, stream }) => {
  const client = openaiClientOf(place);
  const ask = (input: ResponseInputItem[]) => {
    const body = {
      model,
      store: false,
      include: ["reasoning.encrypted_content" as const],
      reasoning: { effort: "low" as const, summary: "auto" as const },
      tools: [{ type: "function" as const, name: "weather", parameters: PARAMETERS, strict: true }],
      input,
    };
    return stream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
  };
  const question = { role: "user" as const, content: "Hi" };
  const { output } = await ask([question]);
  const results = output.flatMap((item) =>
    item.type === "function_call"
      ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "rain" }]
      : [],
  );
  const last = await ask([question, ...(output as ResponseInputItem[]), ...results]);
  return last.output_text;
};

const gemini: Turns = async (place, { model, stream }) => {
  const client = googleClient(place);
  const ask = async (contents: Content[]): Promise<Content> => {
    const asked = {
      model,
      contents,
      config: {
        thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 },
        tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: PARAMETERS }] }],
      },
    };
    if (!stream) return (await client.models.generateContent(asked)).candidates?.[0]?.content ?? {};
    const parts = [];
    for await (const reply of await client.models.generateContentStream(asked))
      parts.push(...(reply.candidates?.[0]?.content?.parts ?? []));
    return { role: "model", parts };
  };
  const question = { role: "user", parts: [{ text: "Hi" }] };
  const said = await ask([question]);
  const results = (said.parts ?? []).flatMap(({ functionCall: call }) =>
    call === undefined
      ? []
      : [
          {
            functionResponse: {
              ...(call.id === undefined ? {} : { id: call.id }),
              name: call.name ?? "",
              response: { output: "rain" },
            },
          },
        ],
  );
  const last = await ask([question, said, { role: "user", parts: results }]);
  return (last.parts ?? [])
    .map(({ text, thought }) => (thought === true ? "" : (text ?? "")))
    .join("");
};

const TURNS: Readonly<Record<FaceName, Turns>> = { messages, responses, gemini };
