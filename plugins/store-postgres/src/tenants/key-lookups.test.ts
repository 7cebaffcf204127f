import type { KeyRecord } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { KeyLookups } from "./key-lookups.ts";

const record = (digest: string, previousDigest: string | null = null): KeyRecord =>
  ({ id: `key of ${digest}`, digest, previousDigest }) as KeyRecord;

/** Look-ups whose questions are answered one by one. */
function lookups(records: readonly KeyRecord[]) {
  const questions: { readonly digests: readonly string[]; answer(error?: Error): void }[] = [];
  const keys = new KeyLookups((digests) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly KeyRecord[]>();
    const found = records.filter(
      ({ digest, previousDigest }) =>
        digests.includes(digest) || digests.includes(previousDigest ?? ""),
    );
    questions.push({ digests, answer: (error) => (error ? reject(error) : resolve(found)) });
    return promise;
  });
  return { keys, questions };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("look-ups of keys", () => {
  it("that come during a question go together, each with its own key", async () => {
    const { keys, questions } = lookups([record("a"), record("b", "old b"), record("c")]);
    const first = keys.find("a");
    const unknown = Array.from({ length: 500 }, (_, at) => keys.find(`unknown ${at}`));
    const others = [keys.find("old b"), keys.find("none", "c"), keys.find("a")];
    expect(questions.map(({ digests }) => digests)).toEqual([["a"]]);
    questions[0]?.answer();
    expect((await first)?.id).toBe("key of a");
    await turn();
    expect(questions).toHaveLength(2);
    questions[1]?.answer();
    expect((await Promise.all(unknown)).every((found) => found === undefined)).toBe(true);
    const ids = (await Promise.all(others)).map((found) => found?.id);
    expect(ids).toEqual(["key of b", "key of c", "key of a"]);
  });

  it("that come after a question has begun see what was written before them", async () => {
    const records: KeyRecord[] = [];
    const { keys, questions } = lookups(records);
    const early = keys.find("a");
    records.push(record("a"));
    const late = keys.find("a");
    questions[0]?.answer();
    expect(await early).toBeUndefined();
    await turn();
    questions[1]?.answer();
    expect((await late)?.id).toBe("key of a");
  });

  it("reject with the error of their question alone", async () => {
    const { keys, questions } = lookups([record("b")]);
    const first = keys.find("a");
    const second = keys.find("b");
    questions[0]?.answer(new Error("away"));
    await expect(first).rejects.toThrow("away");
    await turn();
    questions[1]?.answer();
    expect((await second)?.id).toBe("key of b");
  });
});
