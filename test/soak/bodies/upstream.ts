/** The upstream of `proof:bodies`: it answers every request at once. */

import { createNativeUpstream } from "../../system/support/native-upstream.ts";
import { obey } from "./part.ts";

const WHOLE = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const MESSAGE = JSON.stringify({
  id: "m",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
});
const GEMINI = JSON.stringify({
  candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});

/** The address of the started upstream. */
export interface UpstreamSaid {
  readonly url: string;
}

obey<object, UpstreamSaid>(async () => {
  const upstream = await createNativeUpstream();
  upstream.answer((response, { url }) => {
    const body = url.includes("generateContent")
      ? GEMINI
      : url.endsWith("/messages")
        ? MESSAGE
        : WHOLE;
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  return { url: upstream.url };
});
