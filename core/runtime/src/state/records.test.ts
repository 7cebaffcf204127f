import { describe, expect, it } from "vitest";
import { fakeClock } from "@sluice/testing";
import { createRecords } from "./records.ts";

const LONG_MS = 60_000;

describe("records", () => {
  it("stay below their bytes and their number: the oldest goes", () => {
    const records = createRecords({
      clock: fakeClock(),
      maxRecords: 5,
      maxBytes: 100,
      maxEntryBytes: 60,
    });
    const finish = (key: string, size: number): boolean => {
      records.begin(key, "body", "one", LONG_MS);
      return records.complete(key, "one", new Uint8Array(size), LONG_MS);
    };
    expect(finish("large", 61)).toBe(false);
    expect(records.begin("large", "other", "two", LONG_MS).outcome).toBe("new");
    expect(finish("a", 60)).toBe(true);
    expect(finish("b", 60)).toBe(true);
    expect(records.begin("a", "body", "two", LONG_MS).outcome).toBe("new");
    expect(records.begin("b", "body", "two", LONG_MS).outcome).toBe("done");
    for (const key of ["c", "d", "e", "f", "g"]) finish(key, 1);
    expect(records.begin("b", "body", "two", LONG_MS).outcome).toBe("new");
    expect(records.begin("g", "body", "two", LONG_MS).outcome).toBe("done");
  });

  it("of one holder do not drive out those of another, which are fewer", () => {
    const records = createRecords({ clock: fakeClock(), maxRecords: 100, maxBytes: 10_000 });
    const finish = (key: string, size: number): void => {
      records.begin(key, "body", "one", LONG_MS);
      records.complete(key, "one", new Uint8Array(size), LONG_MS);
    };
    finish("repeat:quiet:1", 100);
    records.begin("repeat:quiet:2", "body", "one", LONG_MS);
    for (let serial = 0; serial < 1_000; serial += 1)
      finish(`repeat:loud:${serial}`, serial % 2 === 0 ? 1 : 4_000);
    expect(records.begin("repeat:quiet:1", "body", "two", LONG_MS).outcome).toBe("done");
    expect(records.begin("repeat:quiet:2", "body", "two", LONG_MS).outcome).toBe("running");
    expect(records.begin("repeat:loud:999", "body", "two", LONG_MS).outcome).toBe("done");
    expect(records.begin("repeat:loud:1", "body", "two", LONG_MS).outcome).toBe("new");
  });

  it("let the owner ask again, and extend its lease", () => {
    const clock = fakeClock();
    const records = createRecords({ clock });
    records.begin("key", "body", "one", 100);
    clock.advance(80);
    expect(records.begin("key", "body", "one", 100).outcome).toBe("new");
    clock.advance(80);
    expect(records.begin("key", "body", "two", 100).outcome).toBe("running");
    expect(records.complete("key", "one", Uint8Array.of(1), 50)).toBe(true);
    expect(records.complete("key", "one", Uint8Array.of(2), 50)).toBe(false);
    clock.advance(60);
    expect(records.begin("key", "body", "two", 100).outcome).toBe("new");
  });
});
