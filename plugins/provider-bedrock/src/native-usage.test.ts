/** The usage of native replies in Bedrock's frames. */

import { createUsageMeter } from "@sluice/runtime/passthrough";
import { eventFrame } from "@sluice/testing";
import { describe, expect, it } from "vitest";
import { eventFraming as framing } from "./event-frames.ts";

const { contentType } = framing;

describe("the usage of a native reply", () => {
  it("is read from frames: Converse's metadata, and the chunks of a model's own events", () => {
    const inner = (event: object) =>
      eventFrame(
        { ":event-type": "chunk", ":message-type": "event" },
        JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "ab" }),
      );
    const native = Buffer.concat([
      inner({
        type: "message_start",
        message: { usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 } },
      }),
      inner({ type: "message_delta", usage: { output_tokens: 9 } }),
      inner({
        type: "message_stop",
        "amazon-bedrock-invocationMetrics": { inputTokenCount: 10, outputTokenCount: 9 },
      }),
    ]);
    const meter = createUsageMeter({ contentType, framing });
    meter.push(native);
    expect(meter.end()).toMatchObject({ promptTokens: 15, completionTokens: 9, cachedTokens: 5 });
    const converse = createUsageMeter({ contentType, framing });
    converse.push(
      eventFrame(
        { ":event-type": "metadata", ":message-type": "event" },
        '{"usage":{"inputTokens":3,"outputTokens":4}}',
      ),
    );
    expect(converse.end()).toMatchObject({ promptTokens: 3, completionTokens: 4 });
    const damaged = createUsageMeter({ contentType, framing });
    damaged.push(Buffer.from("no frame at all, and long enough for one"));
    expect(damaged.end()).toBeUndefined();
  });

  it("is read whatever type a proxy wrote, and to the first damaged frame", () => {
    const frame = eventFrame(
      { ":event-type": "metadata", ":message-type": "event" },
      '{"usage":{"inputTokens":3,"outputTokens":4}}',
    );
    for (const other of [undefined, "text/event-stream", "application/octet-stream"]) {
      const meter = createUsageMeter({ contentType: other, framing });
      for (const byte of frame) meter.push(Uint8Array.of(byte));
      meter.push(Buffer.alloc(20, 1));
      meter.push(frame);
      expect([meter.end()?.totalTokens, meter.isRead]).toEqual([7, true]);
    }
  });
});
