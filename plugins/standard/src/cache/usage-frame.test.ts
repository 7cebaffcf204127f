import { expect, it } from "vitest";
import { FrameBatch, rawFrame } from "@sluice/kit/internals";
import { withoutUsage } from "./usage-frame.ts";

it("leaves out the usage of a batch, and a batch of nothing else", () => {
  const usage = rawFrame('{"choices":[],"usage":{"prompt_tokens":1}}');
  const content = rawFrame(
    '{"choices":[{"delta":{"content":"usage\\""}}],"usage":{"prompt_tokens":1}}',
  );
  const empty = rawFrame('{"choices":[],"usage":null}');
  expect(withoutUsage(new FrameBatch([content, usage, empty]))?.frames).toEqual([content, empty]);
  expect(withoutUsage(new FrameBatch([usage]))).toBeUndefined();
});
