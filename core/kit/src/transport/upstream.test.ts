import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { GatewayError, Secret } from "@sluice/contract";
import { closed, get, openPool, serveBytes, serveHttp, within } from "@sluice/testing/serve-http";

function failsWith(code: string): unknown {
  return expect.objectContaining({ name: "GatewayError", code });
}

describe("a reply in one piece", () => {
  it("arrives with status, headers and body", async () => {
    const server = await serveHttp((request, response) => {
      response.writeHead(201, {
        "x-method": request.method ?? "",
        "x-auth": request.headers.authorization ?? "",
      });
      request.pipe(response);
    });
    const call = {
      ...get(server, "/v1/x?y=1"),
      method: "POST" as const,
      headers: { authorization: new Secret("KEY", "Bearer k") },
      body: "grüße",
    };
    const { status, headers, body } = await openPool().send(call, within());
    expect({ status, method: headers["x-method"], auth: headers["x-auth"] }).toEqual({
      status: 201,
      method: "POST",
      auth: "Bearer k",
    });
    expect(Buffer.from(await body.collect(100)).toString()).toBe("grüße");
  });

  it("is refused over the bound", async () => {
    const server = await serveHttp((_request, response) => void response.end("x".repeat(2_000)));
    const { body } = await openPool().send(get(server), within());
    await expect(body.collect(1_999)).rejects.toEqual(failsWith("upstream_invalid_response"));
  });

  it("is dropped with its connection as soon as the bound is passed", async () => {
    const server = await serveHttp((_request, response) => void response.write("x".repeat(2_000)));
    const { body } = await openPool().send(get(server), within());
    await expect(body.collect(1_999)).rejects.toEqual(failsWith("upstream_invalid_response"));
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("may be exactly as large as the bound", async () => {
    const server = await serveHttp((_request, response) => void response.end("x".repeat(2_000)));
    const { body } = await openPool().send(get(server), within());
    expect(await body.collect(2_000)).toHaveLength(2_000);
  });

  it("is refused when it is shorter than it promised", async () => {
    const server = await serveBytes(
      (socket) => void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"),
    );
    const { body } = await openPool().send(get(server), within());
    await expect(body.collect(100)).rejects.toMatchObject({ name: "GatewayError", status: 502 });
  });

  it("is not redirected", async () => {
    const server = await serveHttp(
      (_request, response) => void response.writeHead(302, { location: "/other" }).end(),
    );
    expect(await openPool().send(get(server), within())).toMatchObject({ status: 302 });
  });
});

describe("an upstream that fails", () => {
  it("by refusing the connection is unreachable", async () => {
    const server = await serveHttp(() => undefined);
    const [, port] = server.url.split("127.0.0.1:");
    // Nothing listens on the discard port; where it does, the reply is no HTTP.
    expect(port).toBeDefined();
    await expect(
      openPool().send({ ...get(server), url: "http://127.0.0.1:9/" }, within()),
    ).rejects.toEqual(failsWith("upstream_unreachable"));
  });

  it("by dropping the connection before its headers is unreachable", async () => {
    const server = await serveBytes((socket) => void socket.resetAndDestroy());
    await expect(openPool().send(get(server), within())).rejects.toEqual(
      failsWith("upstream_unreachable"),
    );
  });

  it("by dropping the connection in the body fails the body", async () => {
    const server = await serveHttp((_request, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("abc", () => response.socket?.resetAndDestroy());
    });
    const { body } = await openPool().send(get(server), within());
    await expect(body.collect(100)).rejects.toEqual(failsWith("upstream_unreachable"));
  });

  it.each([
    ["no HTTP", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["broken framing", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
    [
      "both framings",
      "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["huge headers", `HTTP/1.1 200 OK\r\nx-a: ${"a".repeat(20_000)}\r\n\r\n`],
  ])("by sending %s cannot be read", async (_what, bytes) => {
    const server = await serveBytes((socket) => void socket.end(bytes));
    await expect(openPool().send(get(server), within())).rejects.toEqual(
      failsWith("upstream_invalid_response"),
    );
  });
});

describe("an upstream that hangs", () => {
  it("before its headers runs into the first-byte timer", async () => {
    const server = await serveHttp(() => undefined);
    await expect(openPool().send(get(server), within({ firstByteMs: 30 }))).rejects.toEqual(
      failsWith("upstream_timeout"),
    );
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("with informational replies for ever runs into the same timer", async () => {
    const server = await serveBytes((socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), 20);
      socket.once("close", () => clearInterval(timer));
    });
    await expect(openPool().send(get(server), within({ firstByteMs: 100 }))).rejects.toEqual(
      failsWith("upstream_timeout"),
    );
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("with more than 20 informational replies is left", async () => {
    const server = await serveBytes(
      (socket) => void socket.write("HTTP/1.1 102 Processing\r\n\r\n".repeat(21)),
    );
    await expect(openPool().send(get(server), within())).rejects.toEqual(
      failsWith("upstream_invalid_response"),
    );
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("in the body runs into the idle timer", async () => {
    const server = await serveHttp((_request, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("abc");
    });
    const { body } = await openPool().send(get(server), within({ idleMs: 30 }));
    await expect(body.collect(100)).rejects.toEqual(failsWith("upstream_timeout"));
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("while every connection is taken runs into the first-byte timer", async () => {
    const server = await serveHttp(() => undefined);
    const pool = openPool({ connections: 1 });
    const first = pool.send(get(server), within({ firstByteMs: 200 }));
    await expect(pool.send(get(server), within({ firstByteMs: 20 }))).rejects.toEqual(
      failsWith("upstream_timeout"),
    );
    await expect(first).rejects.toEqual(failsWith("upstream_timeout"));
    expect(server.sockets).toHaveLength(1);
  });

  it("sees its timer start again with every piece of the body", async () => {
    const server = await serveHttp((_request, response) => {
      let left = 10;
      const timer = setInterval(() => {
        response.write("x");
        if (--left > 0) return;
        clearInterval(timer);
        response.end();
      }, 20);
    });
    const { body } = await openPool().send(get(server), within({ idleMs: 150 }));
    expect(await body.collect(100)).toHaveLength(10);
  });
});

describe("a signal", () => {
  const gone = new GatewayError("client_closed", "The client closed the connection.");

  it("that is already aborted sends nothing", async () => {
    const server = await serveHttp((_request, response) => void response.end());
    await expect(openPool().send(get(server), within({}, AbortSignal.abort(gone)))).rejects.toBe(
      gone,
    );
    expect(server.sockets).toHaveLength(0);
  });

  it("rejects a call that waits for headers, and closes the socket", async () => {
    const controller = new AbortController();
    const server = await serveHttp(() => controller.abort(gone));
    await expect(openPool().send(get(server), within({}, controller.signal))).rejects.toBe(gone);
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("fails a body that waits for more, and closes the socket", async () => {
    const controller = new AbortController();
    const server = await serveHttp((_request, response) => void response.write("abc"));
    const { body } = await openPool().send(get(server), within({}, controller.signal));
    expect(Buffer.concat((await body.read()) ?? []).toString()).toBe("abc");
    const next = body.read();
    controller.abort(gone);
    await expect(next).rejects.toBe(gone);
    expect(await closed(server.sockets[0])).toBe(true);
  });
});

describe("connections", () => {
  it("are used again after a reply that was read to its end", async () => {
    const server = await serveHttp((_request, response) => void response.end("ok"));
    const pool = openPool();
    for (let count = 0; count < 20; count++)
      await (await pool.send(get(server), within())).body.collect(10);
    // A caller that is as quick as this one asks again before undici has put the first connection
    // back.
    expect(server.sockets.length).toBeLessThanOrEqual(2);
  });

  it("are used again after a body that was released", async () => {
    const server = await serveHttp((_request, response) => void response.end("ok"));
    const pool = openPool({ connections: 1 });
    for (let count = 0; count < 3; count++)
      (await pool.send(get(server), within())).body.release(1_000);
    expect(server.sockets).toHaveLength(1);
  });

  it("are dropped when a released body does not end", async () => {
    const server = await serveHttp((_request, response) => void response.write("data: [DONE]\n\n"));
    const { body } = await openPool().send(get(server), within());
    body.release(20);
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("are dropped when a body is cancelled", async () => {
    const server = await serveHttp((_request, response) => void response.write("abc"));
    const { body } = await openPool().send(get(server), within());
    body.cancel();
    expect(await closed(server.sockets[0])).toBe(true);
  });
});

describe("back-pressure", () => {
  const CHUNK = Buffer.alloc(65_536, "x");
  const TOTAL = 2_000;

  /**
   * Writes 128 MB as fast as they are taken; `stalled` resolves when nothing has moved for a
   * moment.
   */
  async function serveMuch() {
    let stalled: () => void;
    const whenStalled = new Promise<void>((resolve) => {
      stalled = resolve;
    });
    const server = await serveHttp(async (_request, response) => {
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      response.setTimeout(150, () => stalled());
      for (let count = 0; count < TOTAL; count++) {
        if (!response.write(CHUNK))
          await once(response, "drain", { signal: gone.signal }).catch(() => undefined);
        if (gone.signal.aborted) return;
      }
      response.end();
    });
    return { server, whenStalled };
  }

  it("stops the upstream while the reply is not read", async () => {
    const { server, whenStalled } = await serveMuch();
    const { body } = await openPool().send(get(server), within());
    await whenStalled;
    // What the kernel holds on both sides is a few megabytes; all of it would be 128.
    expect(server.sockets[0]?.bytesWritten).toBeLessThan(32 * 1024 * 1024);
    body.cancel();
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("is no reason to call the upstream idle", async () => {
    const { server, whenStalled } = await serveMuch();
    const { body } = await openPool().send(get(server), within({ idleMs: 60 }));
    await whenStalled;
    let size = 0;
    for (let chunks = await body.read(); chunks !== undefined; chunks = await body.read()) {
      for (const chunk of chunks) size += chunk.length;
    }
    expect(size).toBe(TOTAL * CHUNK.length);
  });
});

describe("a stale connection", () => {
  const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

  /** Answers the first call of the first connection, and `then` the second one. */
  async function serveStale(then: (socket: Socket) => void) {
    const calls: string[] = [];
    const server = await serveBytes((socket) => {
      const isFirst = calls.length === 0;
      calls.push("first of a connection");
      socket.write(OK);
      socket.on("data", (bytes: Buffer) => {
        // The body of a call may come behind its head.
        if (!bytes.includes("POST /")) return;
        calls.push("second of a connection");
        if (isFirst) then(socket);
        else socket.write(OK);
      });
    });
    const post = { ...get(server), method: "POST" as const, body: "{}" };
    const pool = openPool({ connections: 1 });
    const send = async (): Promise<string> => {
      const { body } = await pool.send(post, within());
      return Buffer.from(await body.collect(100)).toString();
    };
    expect(await send()).toBe("ok");
    return { server, calls, send };
  }

  it.each<[string, (socket: Socket) => void]>([
    ["closes", (socket) => socket.end()],
    ["is reset", (socket) => socket.resetAndDestroy()],
  ])(
    "that %s without a byte costs a post nothing: it goes out once more, on a new one",
    async (_how, end) => {
      const { server, calls, send } = await serveStale(end);
      expect(await send()).toBe("ok");
      expect(calls).toEqual([
        "first of a connection",
        "second of a connection",
        "first of a connection",
      ]);
      expect(server.sockets).toHaveLength(2);
    },
  );

  it("that has answered a byte is not stale", async () => {
    const { calls, send } = await serveStale((socket) => socket.end("HTTP/1.1 2"));
    await expect(send()).rejects.toMatchObject({ status: 502 });
    expect(calls).toHaveLength(2);
  });

  it("is not replayed twice, and a new connection is never stale", async () => {
    let calls = 0;
    const server = await serveBytes((socket) => {
      calls += 1;
      socket.end();
    });
    await expect(openPool().send(get(server), within())).rejects.toEqual(
      failsWith("upstream_unreachable"),
    );
    expect(calls).toBe(1);
  });
});

describe("a response head", () => {
  it("of more than 200 headers is refused", async () => {
    const server = await serveBytes(
      (socket) =>
        void socket.write(`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(201)}content-length: 0\r\n\r\n`),
    );
    await expect(openPool().send(get(server), within())).rejects.toEqual(
      failsWith("upstream_invalid_response"),
    );
    expect(await closed(server.sockets[0])).toBe(true);
  });
});
