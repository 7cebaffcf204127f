import type { RequestListener, ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import type { MediaFetchSettings } from "@sluice/contract";
import type { Resolve } from "./address.ts";
import { createMediaFetcher } from "./fetch.ts";
import { closed, type LocalServer, serveHttp } from "@sluice/testing/serve-http";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const PATH = "messages[0].content[0].image_url.url";
const SETTINGS: MediaFetchSettings = {
  hosts: ["*"],
  allowOrigins: [],
  maxBytes: 1_000,
  timeoutMs: 5_000,
  redirects: 0,
  maxParallel: 16,
};
/** Never asked where a URL says by itself that it is none of ours. */
const noLookup: Resolve = (host, done) => done(new Error(`${host} was looked up`), []);
const answering =
  (...addresses: string[]): Resolve =>
  (_host, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );

function fetchWith(
  url: string,
  settings: Partial<MediaFetchSettings> = {},
  resolve = noLookup,
  signal = new AbortController().signal,
) {
  return createMediaFetcher({ ...SETTINGS, ...settings }, resolve).fetch(
    url,
    "image",
    PATH,
    signal,
  );
}

/** A server of the operator's own. */
async function store(
  handler: RequestListener,
): Promise<{ server: LocalServer; settings: Partial<MediaFetchSettings> }> {
  const server = await serveHttp(handler);
  return { server, settings: { allowOrigins: [server.url] } };
}

const png = (response: ServerResponse): unknown =>
  response.writeHead(200, { "content-type": "image/png" }).end(PNG);

describe("a URL that is not fetched", () => {
  it.each([
    ["http://example.com/a.png", "is not https:"],
    ["ftp://example.com/a.png", "is not https:"],
    ["file:///etc/passwd", "is not https:"],
    ["https://user@example.com/a.png", "holds a credential"],
    ["https://user:password@example.com/", "holds a credential"],
    ["https://example.com:8443/", "names a port"],
    ["https://example.com\\@127.0.0.1/", "holds a character that no URL may hold"],
    ["https://exa\tmple.com/", "holds a character that no URL may hold"],
    ["https://example.com/a b", "holds a character that no URL may hold"],
    ["https://", "is not a URL"],
    ["https://127.0.0.1/", "cannot be reached from here"],
    ["https://2130706433/", "cannot be reached from here"],
    ["https://0x7f000001/", "cannot be reached from here"],
    ["https://0x7f.1/", "cannot be reached from here"],
    ["https://0177.0.0.1/", "cannot be reached from here"],
    ["https://127.1/", "cannot be reached from here"],
    ["https://0/", "cannot be reached from here"],
    ["https://１２７.0.0.1/", "cannot be reached from here"],
    ["https://127。0。0。1/", "cannot be reached from here"],
    ["https://[::1]/", "cannot be reached from here"],
    ["https://[::]/", "cannot be reached from here"],
    ["https://[::ffff:127.0.0.1]/", "cannot be reached from here"],
    ["https://[::ffff:7f00:1]/", "cannot be reached from here"],
    ["https://[64:ff9b::a9fe:a9fe]/", "cannot be reached from here"],
    ["https://[fd00:ec2::254]/", "cannot be reached from here"],
    ["https://169.254.169.254/latest/meta-data/", "cannot be reached from here"],
    ["https://100.100.100.200/", "cannot be reached from here"],
    ["https://10.0.0.1/", "cannot be reached from here"],
    ["https://localhost/", "cannot be reached from here"],
    ["https://localhost./", "cannot be reached from here"],
    ["https://a.localhost/", "cannot be reached from here"],
    ["https://printer.local/", "cannot be reached from here"],
    ["https://metadata.google.internal/", "cannot be reached from here"],
    ["https://metadata/", "cannot be reached from here"],
    ["https://intranet/", "cannot be reached from here"],
  ])("%s: it %s", async (url, why) => {
    await expect(fetchWith(url)).rejects.toMatchObject({
      code: "invalid_field",
      status: 400,
      param: PATH,
      message: `${PATH} names what cannot be fetched: it ${why}.`,
    });
  });

  it.each([
    ["one that is private", ["127.0.0.1"]],
    ["a public one and a private one", ["93.184.215.14", "10.0.0.1"]],
    ["a private one of IPv6 behind a public one", ["2606:2800:21f::1", "fe80::1"]],
    ["none", []],
  ])("because its name has addresses of which there is %s", async (_what, addresses) => {
    let lookups = 0;
    const counting: Resolve = (host, done) => (lookups++, answering(...addresses)(host, done));
    await expect(fetchWith("https://cdn.example.com/a.png", {}, counting)).rejects.toThrow(
      "it cannot be reached from here",
    );
    expect(lookups).toBe(1);
  });

  it("because its name is unknown; that looks as if it were private", async () => {
    const [unknown, inner] = await Promise.all(
      [noLookup, answering("10.0.0.1")].map((resolve) =>
        fetchWith("https://cdn.example.com/?token=secret", {}, resolve).catch((error: unknown) =>
          String(error),
        ),
      ),
    );
    expect(unknown).toBe(inner);
    expect(unknown).not.toMatch(/example|secret/);
  });
});

describe("an origin of the operator's own", () => {
  it("is asked without a credential, and its connection ends", async () => {
    let headers: object = {};
    const { server, settings } = await store((request, response) => {
      headers = request.headers;
      png(response);
    });
    const { mimeType, bytes } = await fetchWith(`${server.url}/a.png?x=1#fragment`, settings);
    expect(mimeType).toBe("image/png");
    expect(Buffer.from(bytes).equals(PNG)).toBe(true);
    expect(Object.keys(headers).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "host",
      "user-agent",
    ]);
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("is connected to at the address that was looked up, once", async () => {
    const { server } = await store((_request, response) => png(response));
    const { port } = new URL(server.url);
    let lookups = 0;
    const rebinding: Resolve = (host, done) =>
      answering(lookups++ === 0 ? "127.0.0.1" : "10.255.255.1")(host, done);
    const settings = { allowOrigins: [`http://store.example:${port}`] };
    const { bytes } = await fetchWith(`http://store.example:${port}/a.png`, settings, rebinding);
    expect(bytes.length).toBe(PNG.length);
    expect(lookups).toBe(1);
  });

  it("is that origin alone: another port is not", async () => {
    const { server, settings } = await store((_request, response) => png(response));
    const other = await serveHttp((_request, response) => png(response));
    await expect(fetchWith(other.url, settings)).rejects.toThrow("it is not https:");
    expect(other.sockets).toHaveLength(0);
    expect(server.sockets).toHaveLength(0);
  });

  it.each([
    ["a page", "text/html", Buffer.from("<html></html>"), "is not an image of a supported type"],
    [
      "a page that says it is an image",
      "image/png",
      Buffer.from("<html></html>"),
      "is not an image of a supported type",
    ],
    [
      "an image that is a script as well",
      "image/svg+xml",
      Buffer.from("<svg/>"),
      "is not an image of a supported type",
    ],
    ["nothing", "image/png", Buffer.alloc(0), "is not an image of a supported type"],
    [
      "too much",
      "image/png",
      Buffer.concat([PNG, Buffer.alloc(1_000)]),
      "has more than 1000 bytes",
    ],
  ])("that answers with %s gives nothing", async (_what, type, body, why) => {
    const { server, settings } = await store((_request, response) =>
      response.writeHead(200, { "content-type": type }).end(body),
    );
    await expect(fetchWith(server.url, settings)).rejects.toThrow(`it ${why}.`);
  });

  it.each([
    [404, "answered with status 404"],
    [206, "answered with status 206"],
    [304, "answered with status 304"],
  ])("that answers with %i gives nothing", async (status, why) => {
    const { server, settings } = await store((_request, response) =>
      response.writeHead(status).end(),
    );
    await expect(fetchWith(server.url, settings)).rejects.toThrow(`it ${why}.`);
  });

  it("that sends without end is left at the bound", async () => {
    const { server, settings } = await store((_request, response) => {
      response.writeHead(200, { "content-type": "image/png" });
      const more = (): unknown => response.write(Buffer.alloc(500), () => setImmediate(more));
      response.on("error", () => undefined);
      more();
    });
    await expect(fetchWith(server.url, settings)).rejects.toThrow("it has more than 1000 bytes.");
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("that sends compressed bytes gives nothing", async () => {
    const { server, settings } = await store((_request, response) =>
      response.writeHead(200, { "content-type": "image/png", "content-encoding": "br" }).end(PNG),
    );
    await expect(fetchWith(server.url, settings)).rejects.toThrow("it is compressed.");
  });

  it("that drips is left at the deadline", async () => {
    const { server, settings } = await store((_request, response) => {
      response.writeHead(200, { "content-type": "image/png" });
      const timer = setInterval(() => response.write("."), 10);
      response.on("close", () => clearInterval(timer));
    });
    await expect(fetchWith(server.url, { ...settings, timeoutMs: 100 })).rejects.toThrow(
      "it took longer than 100 ms.",
    );
    expect(await closed(server.sockets[0])).toBe(true);
  });

  it("is left when the exchange ends", async () => {
    const leaving = new AbortController();
    const { server, settings } = await store(() => leaving.abort(new Error("gone")));
    await expect(fetchWith(server.url, settings, noLookup, leaving.signal)).rejects.toThrow("gone");
    expect(await closed(server.sockets[0])).toBe(true);
  });
});

describe("a redirect", () => {
  const redirecting = (location: string) =>
    store((request, response) =>
      request.url === "/end"
        ? png(response)
        : response.writeHead(302, { location }).end("elsewhere"),
    );

  it("is not followed unless the operator said so", async () => {
    const { server, settings } = await redirecting("/end");
    await expect(fetchWith(server.url, settings)).rejects.toThrow("it redirects elsewhere.");
    const { bytes } = await fetchWith(server.url, { ...settings, redirects: 1 });
    expect(bytes.length).toBe(PNG.length);
  });

  it.each([
    ["http://169.254.169.254/latest/meta-data/", "is not https:"],
    ["https://169.254.169.254/", "cannot be reached from here"],
    ["https://[::1]/", "cannot be reached from here"],
    ["https://cdn.example.com/a.png", "redirects to another scheme"],
    ["//2130706433/", "is not https:"],
    ["ftp://example.com/", "is not https:"],
    ["http://user:pw@example.com/", "holds a credential"],
  ])("to %s: it %s", async (location, why) => {
    const { server, settings } = await redirecting(location);
    await expect(fetchWith(server.url, { ...settings, redirects: 3 })).rejects.toThrow(
      `it ${why}.`,
    );
  });

  it("leads nowhere for ever", async () => {
    const { server, settings } = await redirecting("/again");
    await expect(fetchWith(server.url, { ...settings, redirects: 3 })).rejects.toThrow(
      "it redirects elsewhere.",
    );
    expect(server.sockets).toHaveLength(4);
  });
});

it("fetches so many at the same time and no more", async () => {
  const waiting: ServerResponse[] = [];
  const { server, settings } = await store((_request, response) => void waiting.push(response));
  const fetcher = createMediaFetcher({ ...SETTINGS, ...settings, maxParallel: 2 });
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const all = [1, 2, 3].map((number) =>
    fetcher.fetch(`${server.url}/${number}`, "image", PATH, leaving.signal),
  );
  await expect.poll(() => waiting.length).toBe(2);
  for (const response of waiting.splice(0)) png(response);
  await Promise.all(all.slice(0, 2));
  await expect.poll(() => waiting.length).toBe(1);
  expect(server.sockets).toHaveLength(3);
  for (const response of waiting) png(response);
  expect((await Promise.all(all)).map(({ mimeType }) => mimeType)).toEqual(
    Array(3).fill("image/png"),
  );
});

it("keeps a place for a key that fetches beside one that has taken all it may", async () => {
  const waiting: ServerResponse[] = [];
  const { server, settings } = await store((request, response) => {
    if (request.url === "/quick") png(response);
    else waiting.push(response);
  });
  const fetcher = createMediaFetcher({ ...SETTINGS, ...settings, maxParallel: 4 });
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const by = (key: string, path: string) =>
    fetcher.fetch(`${server.url}${path}`, "image", PATH, leaving.signal, { key, team: undefined });
  await by("victim", "/quick");
  const attack = Array.from({ length: 20 }, (_, n) =>
    by("attacker", `/slow/${n}`).catch(() => undefined),
  );
  await expect.poll(() => waiting.length).toBe(2);
  expect((await by("victim", "/quick")).mimeType).toBe("image/png");
  leaving.abort();
  await Promise.all(attack);
});
