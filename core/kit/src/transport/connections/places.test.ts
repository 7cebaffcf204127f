import { describe, expect, it } from "vitest";
import type { Holder } from "../../state/parts.ts";
import { get, openPool, serveHttp, within } from "@sluice/testing/serve-http";

const A: Holder = { key: "a", team: undefined };
const B: Holder = { key: "b", team: undefined };
const never = new AbortController().signal;

describe("the places of a provider's connections", () => {
  it("are given back when a reply was read, was given up, was refused or never came", async () => {
    const server = await serveHttp((request, response) => {
      if (request.url === "/cut") request.socket.destroy();
      else if (request.url !== "/silent")
        response.write("x".repeat(200_000), () => request.url === "/whole" && response.end());
    });
    const pool = openPool({ connections: 2 });
    const { places } = pool;
    const ends: readonly ((place: { release(): void }) => Promise<unknown>)[] = [
      async (place) =>
        (await pool.send(get(server, "/whole"), { ...within(), place })).body.collect(1_000_000),
      async (place) =>
        (await pool.send(get(server, "/open"), { ...within(), place })).body.cancel(),
      (place) => pool.send(get(server, "/cut"), { ...within(), place }).catch(() => undefined),
      (place) =>
        pool
          .send(get(server, "/silent"), { ...within({ firstByteMs: 20 }), place })
          .catch(() => undefined),
      (place) =>
        pool
          .send(get(server, "/whole"), { ...within({}, AbortSignal.abort()), place })
          .catch(() => undefined),
      (place) =>
        pool
          .send({ ...get(server, "/x"), headers: { "bad name": "x" } }, { ...within(), place })
          .catch(() => undefined),
    ];
    for (const end of ends) {
      // With two connections a key has one: the next call waits until the place is back.
      const place = await places.enter(A, "The provider up", never, 1_000);
      await end(place);
    }
    expect(places.enter(A, "The provider up", never)).not.toBeInstanceOf(Promise);
  });

  it("are held while a reply is not read, by the key that does not read it", async () => {
    const server = await serveHttp(
      (_request, response) => void response.end("x".repeat(5_000_000)),
    );
    const pool = openPool({ connections: 4 });
    for (let call = 0; call < 2; call += 1) {
      const place = await pool.places.enter(A, "The provider up", never);
      await pool.send(get(server), { ...within(), place });
    }
    await expect(pool.places.enter(A, "The provider up", never, 20)).rejects.toMatchObject({
      code: "overloaded",
      retryAfterMs: 1_000,
      message: expect.stringMatching(
        /^The provider up had no free place within 20 ms. This key has 2 of 4 places/,
      ) as string,
    });
    const place = await pool.places.enter(B, "The provider up", never);
    expect((await pool.send(get(server), { ...within(), place })).status).toBe(200);
  });
});
