import { describe, expect, it } from "vitest";
import { writtenDocument } from "@sluice/kit/internals";
import { fakeRequest, fakeTarget } from "@sluice/testing";
import type { JsonObject, ProviderRequest, Reply } from "@sluice/contract";
import { callForImages } from "./image-calls.ts";

function request(body: JsonObject): ProviderRequest {
  const { document } = fakeRequest({ model: "m", prompt: "x", ...body });
  const target = fakeTarget("openai", "dall-e-3");
  return {
    operation: "images",
    document,
    target,
    replyModel: "m",
    stream: false,
    replyId: "x",
    createdSeconds: 7,
  };
}

/** An upstream that remembers how many images each call asked for, and makes them. */
function upstream(fails?: number) {
  const asked: unknown[] = [];
  let ended = 0;
  const attempt = async ({ document }: ProviderRequest): Promise<Reply> => {
    const { n } = document.value;
    const number = asked.push(n);
    await Promise.resolve();
    ended += 1;
    if (number === fails) throw new Error("refused");
    const data = Array.from({ length: Number(n ?? 1) }, (_, index) => ({
      url: `${number}-${index}`,
    }));
    return {
      kind: "whole",
      status: 200,
      document: writtenDocument({ created: number, data, usage: { input_tokens: 1 } }),
    };
  };
  return { asked, caller: { attempt }, ended: () => ended };
}

const value = async (reply: Promise<Reply>) => {
  const made = await reply;
  return made.kind === "whole" ? made.document.value : undefined;
};

describe("an image request", () => {
  it.each<[JsonObject]>([[{}], [{ n: 1 }], [{ n: null }]])(
    "of %j is one call, as it is",
    async (body) => {
      const { asked, caller } = upstream();
      await callForImages(request(body), 1, caller);
      expect(asked).toEqual([body.n]);
    },
  );

  it("is one call where a call makes as many images as are wanted", async () => {
    const { asked, caller } = upstream();
    await callForImages(request({ n: 4 }), Infinity, caller);
    expect(asked).toEqual([4]);
  });

  it("becomes several calls, and one reply with every image in order", async () => {
    const { asked, caller } = upstream();
    expect(await value(callForImages(request({ n: 5 }), 2, caller))).toEqual({
      created: 1,
      data: ["1-0", "1-1", "2-0", "2-1", "3-0"].map((url) => ({ url })),
      usage: { input_tokens: 3, output_tokens: 0, total_tokens: 0 },
    });
    expect(asked).toEqual([2, 2, 1]);
  });

  it("fails with the call that fails, when all have ended", async () => {
    const { caller, ended } = upstream(2);
    await expect(callForImages(request({ n: 3 }), 1, caller)).rejects.toThrow("refused");
    expect(ended()).toBe(3);
  });

  it("is refused when it would take more than ten calls", async () => {
    const { asked, caller } = upstream();
    await expect(callForImages(request({ n: 11 }), 1, caller)).rejects.toMatchObject({
      code: "invalid_field",
      param: "n",
    });
    expect(asked).toEqual([]);
  });
});
