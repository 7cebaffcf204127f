import type { FaceRelay, JsonObject } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { CONTEXT, FACE, read } from "./face.fixture.ts";

/** Text with what JSON leaves unescaped, and what some expressions take for the end of a line. */
const TEXTS = ["plain", "a\u2028b", "\u2029", 'x\u2028"}\u2028data: {}'];
const event = (data: JsonObject): string =>
  `event: ${String(data.type)}\ndata: ${JSON.stringify(data)}\n\n`;

/** A relay, and what it seals. */
function relayOf(request: JsonObject, sealed: string[] = []): FaceRelay {
  const { state } = read({ model: "m", input: "Say.", ...request });
  const seal = (text: string): string => `s${sealed.push(text)}`;
  const relay = FACE.relay?.(state, { ...CONTEXT, seal });
  if (relay === undefined) throw new Error("The face has no relay.");
  return relay;
}

describe.each(TEXTS)("events with the text %j", (text) => {
  it("have their reasoning sealed for the key", () => {
    const item = { id: "rs_1", type: "reasoning", summary: [{ text }], encrypted_content: "own" };
    const done = { type: "response.output_item.done", output_index: 0, item };
    const include = ["reasoning.encrypted_content"];
    const sealed: string[] = [];
    const relay = relayOf({ include }, sealed);
    const shown = relay.events(event({ type: "response.x" }) + event(done), false);
    expect(sealed).toEqual([expect.stringContaining("own")]);
    expect(shown).toContain(JSON.stringify(text));
    expect(shown).toContain('"encrypted_content":"');
    expect(shown).not.toContain('"encrypted_content":"own"');
    // A client that did not ask for it gets none.
    expect(relayOf({}).events(event(done), false)).not.toContain("encrypted_content");
  });

  it("say what the gateway alone knows at the begin and at the end", () => {
    const relay = relayOf({ metadata: { a: "b" } });
    const response = { id: "resp_1", object: "response", instructions: text, metadata: {} };
    const begun = relay.events(event({ type: "response.created", response }), false);
    expect(begun).toContain('"metadata":{"a":"b"}');
    const completed = event({ type: "response.completed", response });
    expect(relay.last(completed)).toMatchObject({ id: "resp_1", metadata: { a: "b" } });
    expect(relay.end(completed)).toContain('"metadata":{"a":"b"}');
    expect(relay.end(completed.replaceAll("\n", "\r\n"))).toMatch(/\}\r\n\r\n$/);
  });
});
