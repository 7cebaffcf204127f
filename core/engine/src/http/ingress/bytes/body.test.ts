import { describe, expect, it } from "vitest";
import { exchange } from "../../http.fixture.ts";
import { readBody } from "./body.ts";

const LIMITS = { maxBytes: 10, deadlineMs: 5_000 };
const head = (headers: string): string => `POST / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`;
const chunked = (...texts: readonly string[]): string =>
  head("transfer-encoding: chunked") +
  texts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join("");

describe("a body", () => {
  it.each([
    ["with its length", `${head("content-length: 10")}0123456789`],
    ["in chunks", `${chunked("01234", "56789")}0\r\n\r\n`],
  ])("%s is read whole, up to the limit", async (_what, text) => {
    const { request } = await exchange(text);
    expect((await readBody(request, LIMITS)).toString()).toBe("0123456789");
  });

  it("that is absent is empty", async () => {
    const { request } = await exchange(head("content-length: 0"));
    expect(await readBody(request, LIMITS)).toHaveLength(0);
  });

  it("that announces too much is refused before it comes", async () => {
    const { request } = await exchange(head("content-length: 11"));
    await expect(readBody(request, LIMITS)).rejects.toMatchObject({
      code: "body_too_large",
      status: 413,
      headers: { connection: "close" },
    });
  });

  it("in chunks is refused at the first byte too many", async () => {
    const { request } = await exchange(chunked("0123456789", "x"));
    await expect(readBody(request, LIMITS)).rejects.toMatchObject({ code: "body_too_large" });
  });

  it("in very many tiny chunks is refused; in as many larger ones it is read", async () => {
    const limits = { maxBytes: 1_000_000, deadlineMs: 10_000 };
    const tiny = await exchange(chunked(...Array.from({ length: 5_000 }, () => "x")));
    await expect(readBody(tiny.request, limits)).rejects.toMatchObject({
      code: "invalid_json",
      headers: { connection: "close" },
    });
    const few = await exchange(`${chunked(...Array.from({ length: 4_000 }, () => "x"))}0\r\n\r\n`);
    expect(await readBody(few.request, limits)).toHaveLength(4_000);
    const larger = await exchange(
      `${chunked(...Array.from({ length: 5_000 }, () => "x".repeat(32)))}0\r\n\r\n`,
    );
    expect(await readBody(larger.request, limits)).toHaveLength(160_000);
  });

  it("that does not arrive in time is refused", async () => {
    const { request } = await exchange(`${head("content-length: 10")}01234`);
    await expect(readBody(request, { ...LIMITS, deadlineMs: 20 })).rejects.toMatchObject({
      code: "body_timeout",
      status: 408,
    });
  });

  it("ends with the client that goes away", async () => {
    const { request, client } = await exchange(`${head("content-length: 10")}01234`);
    const reading = readBody(request, LIMITS);
    client.destroy();
    await expect(reading).rejects.toMatchObject({ code: "client_closed" });
  });

  it("ends at once when the client had gone before", async () => {
    const { request, client } = await exchange(`${head("content-length: 10")}01234`);
    const gone = new Promise((resolve) => request.once("close", resolve));
    request.on("error", () => undefined);
    client.destroy();
    await gone;
    await expect(readBody(request, { ...LIMITS, deadlineMs: 200 })).rejects.toMatchObject({
      code: "client_closed",
    });
  });
});
