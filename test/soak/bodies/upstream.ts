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

/** The address of the started upstream. */
export interface UpstreamSaid {
  readonly url: string;
}

obey<object, UpstreamSaid>(async () => {
  const upstream = await createNativeUpstream();
  upstream.reply(200, "application/json", WHOLE);
  return { url: upstream.url };
});
