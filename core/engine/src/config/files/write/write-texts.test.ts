import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bytesOf, WriteFault, writeTexts } from "./write-texts.ts";

let folder: string;
let a: string;
let b: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-write-"));
  [a, b] = [join(folder, "a.yaml"), join(folder, "b.yaml")];
  writeFileSync(a, "a: 1\n");
  writeFileSync(b, "b: 1\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bytes = (text: string): Buffer => Buffer.from(text);
const kindOf = (writes: Parameters<typeof writeTexts>[0]): Promise<string> =>
  writeTexts(writes).then(
    () => "written",
    (error: unknown) => (error instanceof WriteFault ? error.kind : String(error)),
  );

describe("a write of several files", () => {
  it("replaces, adds and removes, keeps the mode, and leaves no other file", async () => {
    chmodSync(a, 0o600);
    const added = join(folder, "c.yaml");
    await writeTexts([
      { path: a, before: bytes("a: 1\n"), after: bytes("a: 2\n") },
      { path: b, before: bytes("b: 1\n"), after: undefined },
      { path: added, before: undefined, after: bytes("c: 1\n") },
    ]);
    expect(readFileSync(a, "utf8")).toBe("a: 2\n");
    expect(statSync(a).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(["a.yaml", "c.yaml"]);
  });

  it("writes none of them when one is not what it was, or cannot be replaced", async () => {
    const first = { path: a, before: bytes("a: 1\n"), after: bytes("a: 2\n") };
    expect(
      await kindOf([first, { path: b, before: bytes("b: 0\n"), after: bytes("b: 2\n") }]),
    ).toBe("changed");
    expect(await kindOf([first, { path: b, before: undefined, after: bytes("b: 2\n") }])).toBe(
      "changed",
    );
    const gone = join(folder, "gone", "c.yaml");
    expect(await kindOf([first, { path: gone, before: undefined, after: bytes("c") }])).toBe(
      "changed",
    );
    const link = join(folder, "link.yaml");
    symlinkSync(b, link);
    expect(await kindOf([first, { path: link, before: bytes("b: 1\n"), after: bytes("x") }])).toBe(
      "link",
    );
    expect(() => bytesOf(link)).toThrow("it is a link");
    expect(readFileSync(a, "utf8")).toBe("a: 1\n");
    expect(readFileSync(b, "utf8")).toBe("b: 1\n");
    expect(readdirSync(folder).sort()).toEqual(["a.yaml", "b.yaml", "link.yaml"]);
  });
});
