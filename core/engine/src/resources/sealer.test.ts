import { describe, expect, it } from "vitest";
import { createSealer } from "./sealer.ts";

const PEPPER = Buffer.alloc(32, 7);
const TEXT = Buffer.from("What the client said.");

describe("a sealer", () => {
  const sealer = createSealer(PEPPER);

  it("opens what another one with the same pepper sealed", () => {
    const sealed = sealer.seal("kept", "key:a", TEXT);
    expect(Buffer.from(createSealer(PEPPER).open("kept", "key:a", sealed) ?? [])).toEqual(TEXT);
  });

  it("opens nothing for another purpose, owner or pepper", () => {
    const sealed = sealer.seal("kept", "key:a", TEXT);
    expect(sealer.open("kept", "key:b", sealed)).toBeUndefined();
    expect(sealer.open("other", "key:a", sealed)).toBeUndefined();
    expect(createSealer(Buffer.alloc(32, 8)).open("kept", "key:a", sealed)).toBeUndefined();
  });

  it("opens nothing with a changed, missing or further byte", () => {
    const sealed = sealer.seal("kept", "key:a", TEXT);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Uint8Array.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(sealer.open("kept", "key:a", changed)).toBeUndefined();
      expect(sealer.open("kept", "key:a", sealed.subarray(0, at))).toBeUndefined();
    }
    expect(sealer.open("kept", "key:a", Buffer.concat([sealed, Buffer.of(0)]))).toBeUndefined();
  });

  it("seals a text alike for one owner and differently for others, and shows nothing of it", () => {
    const sealed = (purpose: string, owner: string, text = TEXT): string =>
      Buffer.from(sealer.seal(purpose, owner, text)).toString("latin1");
    const first = sealed("kept", "key:a");
    // A repeat of a reply is the first one, byte for byte.
    expect(sealed("kept", "key:a")).toBe(first);
    const others = [
      sealed("kept", "key:b"),
      sealed("other", "key:a"),
      sealed("kept", "key:a", Buffer.from("What the client said!")),
    ];
    // Salt and ciphertext: no two have the same key and nonce.
    const heads = [first, ...others].map((each) => each.slice(0, 25));
    expect(new Set(heads).size).toBe(4);
    expect(first).not.toContain("client");
  });
});
