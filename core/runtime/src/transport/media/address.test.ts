import type { LookupAddress } from "node:dns";
import { describe, expect, it } from "vitest";
import type { MediaFetchSettings } from "@sluice/contract";
import { isFetcherConcern, type Resolve, vettingLookup, vetUrl } from "./address.ts";

const settings: MediaFetchSettings = {
  hosts: ["cdn.example.com", "*.example.org"],
  allowOrigins: ["http://10.0.0.5:9000", "https://store.internal"],
  maxBytes: 1,
  timeoutMs: 1,
  redirects: 0,
  maxParallel: 1,
};

describe("a URL from a client", () => {
  it.each([
    "https://127.0.0.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://0/",
    "https://１２７.0.0.1/",
    "https://127。0。0。1/",
    "https://127.0.0.1./",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::ffff:8.8.8.8]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[fd00:ec2::254]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.100.100.200/",
    "https://10.0.0.5:9000/",
    "http://10.0.0.5/",
    "http://10.0.0.5:9001/",
    "http://10.0.0.5:9000@example.com/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://a.localhost/",
    "https://printer.local/",
    "https://metadata.google.internal/",
    "https://metadata/",
    "https://intranet/",
    "https://example.com\\@127.0.0.1/",
    "https://exa\tmple.com/",
    "https://user@example.com/",
    "https://example.com:22/",
  ])("%s is not fetched", (url) => {
    expect(vetUrl(url, settings)).toBeTypeOf("string");
  });

  it.each([
    "https://example.com/a?b=c",
    "https://1.1.1.1/",
    "https://[2606:4700::1111]/",
    "https://münchen.example/",
    "https://example.com:443/",
    "https://store.internal.example.com/",
  ])("%s may be fetched", (url) => {
    expect(vetUrl(url, settings)).toMatchObject({ isTrusted: false });
  });

  it("of an origin of the operator's own may be anywhere", () => {
    expect(vetUrl("http://10.0.0.5:9000/a", settings)).toMatchObject({ isTrusted: true });
    expect(vetUrl("/b", settings, new URL("http://10.0.0.5:9000/a"))).toMatchObject({
      isTrusted: true,
      url: { href: "http://10.0.0.5:9000/b" },
    });
  });

  it.each([
    ["https://cdn.example.com/", true],
    ["https://CDN.example.com./", true],
    ["https://example.com/", false],
    ["https://a.example.org/", true],
    ["https://example.org/", false],
    ["https://notexample.org/", false],
    ["http://cdn.example.com/", true],
    ["http://10.0.0.5:9000/", true],
    ["http://10.0.0.5:9001/", true],
    ["\t h\nttp://example.com/", true],
    ["file:///etc/passwd", true],
    ["gs://bucket/a.png", true],
    ["file-abc123", false],
    ["JVBERi0xLjQ", false],
    ["https://", true],
    ["data:image/png;base64,AAAA", false],
  ])("%j: fetched or refused is %s", (url, is) => {
    expect(isFetcherConcern(url, settings)).toBe(is);
  });
});

describe("a look-up", () => {
  const resolving =
    (...addresses: string[]): Resolve =>
    (_host, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
  const lookup = (resolve: Resolve, isTrusted: boolean, all: boolean) =>
    new Promise<unknown>((settle) =>
      vettingLookup(resolve, isTrusted)(
        "cdn.example.com",
        { all },
        (error, address: string | LookupAddress[]) => settle(error === null ? address : error),
      ),
    );

  it.each([
    [["127.0.0.1"]],
    [["93.184.215.14", "10.0.0.1"]],
    [["2606:2800:21f::1", "fe80::1"]],
    [["::ffff:10.0.0.1"]],
    [[]],
  ])("that finds %j finds nothing", async (addresses) => {
    expect(await lookup(resolving(...addresses), false, true)).toBeInstanceOf(Error);
    expect(await lookup(resolving(...addresses), false, false)).toBeInstanceOf(Error);
  });

  it("gives what it vetted, in either form", async () => {
    expect(await lookup(resolving("1.1.1.1", "2606:4700::1111"), false, false)).toBe("1.1.1.1");
    expect(await lookup(resolving("1.1.1.1", "2606:4700::1111"), false, true)).toEqual([
      { address: "1.1.1.1", family: 4 },
      { address: "2606:4700::1111", family: 6 },
    ]);
    expect(await lookup(resolving("10.0.0.1"), true, false)).toBe("10.0.0.1");
  });

  it("that fails fails", async () => {
    expect(await lookup((_host, done) => done(new Error("unknown"), []), true, true)).toMatchObject(
      { message: "unknown" },
    );
  });
});
