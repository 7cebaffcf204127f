import { describe, expect, it, vi } from "vitest";
import type { Holder } from "../../state/parts.ts";
import { nextTurn } from "../turns.ts";
import { ResponseBody } from "./body.ts";
import { excerptOf } from "./excerpt.ts";

/** A body with a transport that records its calls. */
function openBody(holder?: Holder) {
  const calls: string[] = [];
  const body = new ResponseBody(
    { pause: () => calls.push("pause"), resume: () => calls.push("resume") },
    (reason) => {
      calls.push("cancel");
      body.fail(reason);
    },
    holder,
  );
  return { body, calls };
}

const bytes = (length: number): Uint8Array => new Uint8Array(length);

describe("a body that is read", () => {
  it("pauses the transport over 16 KB, and resumes it when the reader has done its work and comes back", async () => {
    const { body, calls } = openBody();
    for (let count = 0; count < 5; count++) body.push(bytes(10_000));
    expect(calls).toEqual(["pause"]);
    expect(await body.read()).toHaveLength(5);
    expect(calls).toEqual(["pause"]);
    const waiting = body.read();
    await vi.waitFor(() => expect(calls).toEqual(["pause", "resume"]));
    body.push(bytes(1));
    expect(await waiting).toHaveLength(1);
  });

  it("resumes beside another key's many pieces of work", async () => {
    const { body, calls } = openBody({ key: "b", team: undefined });
    let done = 0;
    const others = Array.from({ length: 300 }, async () => {
      await nextTurn(undefined, { key: "a", team: undefined });
      done += 1;
    });
    body.push(bytes(20_000));
    body.take();
    const waiting = body.read();
    while (!calls.includes("resume")) await new Promise((resolve) => setImmediate(resolve));
    expect(done).toBeLessThan(10);
    body.end();
    await Promise.all([waiting, ...others]);
  });

  it("does not miss what comes while it resumes", async () => {
    const body: ResponseBody = new ResponseBody(
      { pause: () => undefined, resume: () => body.push(bytes(1)) },
      () => undefined,
    );
    body.push(bytes(20_000));
    expect(await body.read()).toHaveLength(1);
    expect(await body.read()).toHaveLength(1);
  });

  it("takes the rest of one read of a socket before it pauses, up to a bound", () => {
    const { body, calls } = openBody();
    const read = bytes(65_536);
    body.push(read.subarray(0, 30_000));
    body.push(read.subarray(30_000, 60_000));
    expect(calls).toEqual([]);
    body.push(read.subarray(60_000, 65_520));
    expect(calls).toEqual(["pause"]);
    const other = openBody();
    other.body.push(bytes(200_000).subarray(0, 140_000));
    expect(other.calls).toEqual(["pause"]);
  });

  it("is not paused for the end alone: it comes with the last chunk", async () => {
    const { body, calls } = openBody();
    const read = Buffer.from(`${"x".repeat(20_000)}\r\n0\r\n\r\n`);
    body.push(new Uint8Array(new Uint8Array(read).buffer, 0, 20_000));
    expect(calls).toEqual([]);
    expect(body.isOver).toBe(false);
    body.end();
    expect(await body.read()).toHaveLength(1);
    expect(body.isOver).toBe(true);
    const other = openBody();
    const longer = Buffer.from(`${"x".repeat(20_000)}\r\n1\r\nx\r\n`);
    other.body.push(new Uint8Array(new Uint8Array(longer).buffer, 0, 20_000));
    expect(other.calls).toEqual(["pause"]);
  });

  it("gives what has arrived before the failure", async () => {
    const { body } = openBody();
    const reason = new Error("reset");
    body.push(bytes(1));
    body.fail(reason);
    expect(await body.read()).toHaveLength(1);
    await expect(body.read()).rejects.toBe(reason);
  });

  it("ends after its last chunk, and stays ended", async () => {
    const { body } = openBody();
    const waiting = body.read();
    body.push(bytes(1));
    body.end();
    expect(await waiting).toHaveLength(1);
    expect(await body.read()).toBeUndefined();
    expect(await body.read()).toBeUndefined();
  });

  it("is not failed after its end", async () => {
    const { body, calls } = openBody();
    body.end();
    body.fail(new Error("late"));
    body.cancel();
    expect(await body.read()).toBeUndefined();
    expect(calls).toEqual([]);
  });
});

describe("a body that is collected", () => {
  it("is not paused while it is small, nor for the end of its announced length", async () => {
    for (const announced of [0, 400_000]) {
      const { body, calls } = openBody();
      const collected = body.collect(1_000_000, undefined, announced);
      body.push(bytes(60_000));
      body.push(bytes(60_000));
      if (announced > 0) body.push(bytes(280_000));
      body.end();
      expect(await collected).toHaveLength(announced || 120_000);
      expect(calls).toEqual([]);
    }
  });

  it("leaves the rest to a later turn of the event loop when large ones have filled one", async () => {
    const [one, other] = [openBody(), openBody()];
    const collected = [one.body.collect(1_000_000), other.body.collect(1_000_000)];
    const read = bytes(300_000);
    one.body.push(read.subarray(0, 290_000));
    // The rest of its read has arrived: a pause would copy it.
    expect(one.calls).toEqual([]);
    one.body.push(read.subarray(290_000));
    other.body.push(bytes(200_000));
    expect([one.calls, other.calls]).toEqual([["pause"], ["pause"]]);
    await vi.waitFor(() => expect(other.calls).toEqual(["pause", "resume"]));
    expect(one.calls).toEqual(["pause", "resume"]);
    one.body.push(bytes(100_000));
    expect(one.calls).toEqual(["pause", "resume"]);
    for (const { body } of [one, other]) body.end();
    expect((await Promise.all(collected)).map(({ length }) => length)).toEqual([400_000, 200_000]);
  });

  it("does not resume after its end", async () => {
    const { body, calls } = openBody();
    const collected = body.collect(1_000_000);
    body.push(bytes(300_000));
    body.end();
    expect(await collected).toHaveLength(300_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls).toEqual(["pause"]);
  });

  it("counts what arrived before the collecting began", async () => {
    const { body, calls } = openBody();
    body.push(bytes(100_000));
    await expect(body.collect(99_999)).rejects.toMatchObject({ code: "upstream_invalid_response" });
    expect(calls).toEqual(["pause", "cancel"]);
  });

  it("stops at the first byte over the bound", async () => {
    const { body, calls } = openBody();
    const collected = body.collect(10);
    body.push(bytes(10));
    expect(calls).toEqual([]);
    body.push(bytes(1));
    await expect(collected).rejects.toMatchObject({ code: "upstream_invalid_response" });
    expect(calls).toEqual(["cancel"]);
  });

  it("is empty when nothing came", async () => {
    const { body } = openBody();
    body.end();
    expect(await body.collect(0)).toHaveLength(0);
  });
});

describe("a body that is released", () => {
  it("is cancelled when too much follows", () => {
    const { body, calls } = openBody();
    body.release(60_000);
    body.push(bytes(1_000));
    expect(calls).toEqual([]);
    body.push(bytes(1_000));
    expect(calls).toEqual(["cancel"]);
  });
});

describe("an excerpt", () => {
  it("is what comes within the bound; the rest is cancelled", async () => {
    const { body } = openBody();
    const excerpt = excerptOf(body, 1_000, 60_000);
    body.push(bytes(900));
    body.push(bytes(900));
    body.end();
    expect(await excerpt).toHaveLength(1_000);
  });

  it("is what came before the failure", async () => {
    const { body } = openBody();
    body.push(bytes(10));
    body.fail(new Error("reset"));
    expect(await excerptOf(body, 1_000, 60_000)).toHaveLength(10);
  });
});
