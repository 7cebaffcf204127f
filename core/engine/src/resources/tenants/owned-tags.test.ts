import { describe, expect, it } from "vitest";
import { fakeClock } from "@sluice/testing";
import { TimedValidity } from "../store/validity.ts";
import { OwnedTags } from "./owned-tags.ts";

/** Tags over a store in which these are owned; `asked` has the tags of each question. */
function tagsOf(owned: Set<string>) {
  const clock = fakeClock();
  const asked: (readonly string[])[] = [];
  const store = {
    ownedTags: async (tags: readonly string[]) => {
      asked.push(tags);
      return tags.filter((tag) => owned.has(tag));
    },
  };
  const validity = new TimedValidity(clock);
  return { tags: new OwnedTags(store, { clock, validity }), clock, asked };
}

describe("owned tags", () => {
  it("of a key stay in memory when another one names many", async () => {
    const { tags, asked } = tagsOf(new Set(["mine"]));
    const named = ["mine", "free"];
    expect(await tags.owned(named, "quiet")).toEqual(["mine"]);
    for (let request = 0; request < 400; request += 1) {
      const random = Array.from({ length: 64 }, (_, at) => `random ${request} ${at}`);
      // oxlint-disable-next-line no-await-in-loop -- one request comes after the other.
      await tags.owned(random, "loud");
    }
    const before = asked.length;
    expect(tags.owned(named, "quiet")).toEqual(["mine"]);
    expect(asked).toHaveLength(before);
    expect(tags.owned(["random 399 63"], "loud")).toEqual([]);
    expect(tags.owned(["random 0 0"], "loud")).toBeInstanceOf(Promise);
  });

  it("are asked for again after a change, and after their time", async () => {
    const owned = new Set(["a", "b"]);
    const { tags, clock, asked } = tagsOf(owned);
    await tags.owned(["a", "b"], "key");
    owned.clear();
    tags.expire("a");
    expect(await tags.owned(["a", "b"], "key")).toEqual(["b"]);
    clock.advance(1_000);
    expect(await tags.owned(["a", "b"], "key")).toEqual([]);
    owned.add("a");
    tags.expire();
    expect(await tags.owned(["a", "b"], "key")).toEqual(["a"]);
    expect(asked).toEqual([["a", "b"], ["a"], ["a", "b"], ["a", "b"]]);
  });

  it("are not remembered as they were before a change that came meanwhile", async () => {
    const { tags, asked } = tagsOf(new Set(["a"]));
    const asking = tags.owned(["a"], "key");
    tags.expire("a");
    expect(await asking).toEqual(["a"]);
    expect(await tags.owned(["a"], "key")).toEqual(["a"]);
    expect(asked).toHaveLength(2);
  });
});
