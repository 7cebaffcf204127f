import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createFaultUpstream,
  FAULTS,
  type FaultUpstream,
  GOOD_TEXT,
  GOOD_TOKENS,
} from "./fault-upstream.ts";

let upstream: FaultUpstream;
beforeAll(async () => {
  upstream = await createFaultUpstream();
});
afterAll(() => upstream.close());

function ask(model: string, stream = false): Promise<Response> {
  return fetch(`${upstream.baseUrl}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model, stream }),
  });
}

describe("the fault upstream", () => {
  it("answers well where no fault is named, and bills it", async () => {
    const before = upstream.requests.length;
    const { choices } = (await (await ask("good")).json()) as {
      choices: [{ message: { content: string } }];
    };
    expect(choices[0].message.content).toBe(GOOD_TEXT);
    expect(await (await ask("good", true)).text()).toMatch(/data: \[DONE\]\n\n$/);
    expect(upstream.requests.slice(before)).toMatchObject([
      { mode: "good", stream: false, billedTokens: GOOD_TOKENS },
      { mode: "good", stream: true, billedTokens: GOOD_TOKENS },
    ]);
  });

  it("closes, and says that it did", async () => {
    await expect(ask("u7-reset")).rejects.toThrow(TypeError);
    const { closedHereAtMs, closedByPeerAtMs } = upstream.requests.at(-1) ?? {};
    expect(closedHereAtMs).toBeTypeOf("number");
    expect(closedByPeerAtMs).toBeUndefined();
  });

  it("names every mode once, each with an end", () => {
    expect(new Set(FAULTS.map(({ mode }) => mode)).size).toBe(FAULTS.length);
    expect(
      FAULTS.filter(({ whole, stream }) => whole === undefined && stream === undefined),
    ).toEqual([]);
  });
});
