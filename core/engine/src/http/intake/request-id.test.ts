import { describe, expect, it } from "vitest";
import { requestId } from "./request-id.ts";

const NOW = Date.UTC(2026, 10, 20, 12);

describe("a request id", () => {
  it("is a UUIDv7", () => {
    for (let count = 0; count < 2_000; count++) {
      expect(requestId(NOW)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
  });

  it("holds its time", () => {
    expect(Number.parseInt(requestId(NOW).replaceAll("-", "").slice(0, 12), 16)).toBe(NOW);
    expect(requestId(0)).toMatch(/^00000000-0000-7/);
  });

  it("sorts by its time", () => {
    const ids = Array.from({ length: 100 }, (_, index) => requestId(NOW + index * 7));
    expect(ids.toSorted()).toEqual(ids);
  });

  it("is never the same, also within a millisecond and over the end of the pool of random bytes", () => {
    const count = 10_000;
    expect(new Set(Array.from({ length: count }, () => requestId(NOW))).size).toBe(count);
  });
});
