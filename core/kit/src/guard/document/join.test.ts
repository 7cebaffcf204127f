import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/contract";
import { documentOf } from "../../json/document.ts";
import { LateSignal } from "../../state/late-signal.ts";
import { checkTexts } from "@sluice/runtime/guard";
import {
  blocking,
  CONTEXT,
  instanceOf,
  masking,
  guardrailSetOf,
} from "@sluice/testing/guardrail-instances";
import type { BodyText } from "./body-text.ts";
import { Joined } from "./join.ts";
import { bodyTexts, type JoinTexts, withTexts } from "./texts.ts";
import { Vault } from "@sluice/runtime/guard";

const context = { ...CONTEXT, direction: "input" } as const;
const MASK = instanceOf("mask", masking(/maskme/g, 6, "***"));
const BLOCK = instanceOf("block", blocking(/project\s?x/, 10));
const block = (text: string): JsonObject => ({ type: "text", text });

async function judged(
  body: JsonObject,
  instances = [MASK],
  join?: JoinTexts,
  vault?: Vault,
): Promise<JsonObject> {
  const { set } = guardrailSetOf(instances);
  const options = {
    set,
    order: "parallel",
    context,
    ending: new LateSignal(),
    ...(vault === undefined ? {} : { vault }),
  } as const;
  const edits = await checkTexts(bodyTexts(body, "chat", join).texts, options);
  return (await withTexts(documentOf(JSON.stringify(body)), edits, options.ending)).value;
}

const message = (role: string, content: JsonObject["content"]): JsonObject => ({
  role,
  content: content ?? null,
});
const ofUser = (...blocks: JsonObject[]): JsonObject => ({ messages: [message("user", blocks)] });

describe("texts that follow each other", () => {
  it("are masked as the one text that they are, wherever it is cut", async () => {
    const words = fc.array(fc.constantFrom("maskme", "ma", "skme", "x", " "), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        words,
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }),
        async (said, sizes) => {
          const text = said.join("");
          const pieces: string[] = [];
          for (let at = 0, index = 0; at < text.length; index++) {
            const size = sizes[index % sizes.length] ?? 1;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          const body = await judged(ofUser(...pieces.map(block)));
          const [{ content }] = body.messages as unknown as [{ content: { text: string }[] }];
          expect(content.map((one) => one.text).join("")).toBe(text.replaceAll("maskme", "***"));
        },
      ),
      { numRuns: 300 },
    );
  });

  it("are refused for a word or a phrase that is split over them, not over a picture between them", async () => {
    const picture = { type: "image_url", image_url: { url: "https://a.example/b.png" } };
    const refused = { code: "guardrail_violation" };
    await expect(judged(ofUser(block("proj"), block("ect x")), [BLOCK])).rejects.toMatchObject(
      refused,
    );
    await expect(judged(ofUser(block("project"), block("x")), [BLOCK])).rejects.toMatchObject(
      refused,
    );
    await expect(
      judged({ contents: [{ parts: [{ text: "project" }, { text: "x" }] }] }, [BLOCK]),
    ).rejects.toMatchObject(refused);
    expect(await judged(ofUser(block("proj"), picture, block("ect x")), [BLOCK])).toBeDefined();
  });

  it("come back where they were masked", async () => {
    const vault = new Vault();
    const restoring = {
      reach: 6,
      check: (text: string) => {
        const start = text.indexOf("secret");
        const spans = [{ start, end: start + 6, replacement: "WORD", restore: true }];
        return start < 0 ? ({ kind: "allow" } as const) : ({ kind: "edit", spans } as const);
      },
    };
    const body = await judged(
      ofUser(block("a sec"), block("ret b")),
      [instanceOf("hide", restoring)],
      "blocks",
      vault,
    );
    expect(body).toEqual(ofUser(block("a [WORD_1]"), block(" b")));
    expect(vault.restore("[WORD_1]", false)).toEqual([{ start: 0, end: 8, replacement: "secret" }]);
  });
});

describe("messages", () => {
  const body: JsonObject = {
    messages: [
      message("user", "a mask"),
      message("assistant", "go on"),
      message("user", [block("me b")]),
    ],
  };

  it("are read one by one, and joined where that is asked for", async () => {
    expect(await judged(body)).toEqual(body);
    expect(await judged(body, [MASK], "messages")).toEqual({
      messages: [
        message("user", "a ***"),
        message("assistant", "go on"),
        message("user", [block(" b")]),
      ],
    });
  });

  it("of different roles are not joined", async () => {
    const mixed: JsonObject = { messages: [message("user", "mask"), message("assistant", "me")] };
    expect(await judged(mixed, [MASK], "messages")).toEqual(mixed);
  });

  it("have nothing edited twice that stands in one of them", async () => {
    const twice: JsonObject = {
      messages: [message("user", "maskme"), message("user", "maskme mask"), message("user", "me")],
    };
    expect(await judged(twice, [MASK], "messages")).toEqual({
      messages: [message("user", "***"), message("user", "*** ***"), message("user", "")],
    });
  });
});

it("a guardrail that judges whole texts, or calls a service, gets a joined text once, and no numbers", async () => {
  const seen: string[] = [];
  const check = (text: string): { readonly kind: "allow" } => {
    seen.push(text);
    return { kind: "allow" };
  };
  const call = { type: "tool_use", name: "f", input: { card: 4_111_111_111 } };
  const body = ofUser(block("a"), block("b"), call);
  await judged(body, [instanceOf("whole", { reach: Infinity, check })]);
  const whole = seen.splice(0);
  await judged(body, [{ ...instanceOf("service", { reach: 9, check }), isRemote: true }]);
  expect(seen).toEqual(whole);
  expect(whole).toEqual(expect.arrayContaining(["a", "b", "ab"]));
  expect(whole.join(" ")).not.toMatch(/a\nb|4111/);
});

/** The parts that a span covers characters of: every part is looked at. */
function coveredBy(starts: readonly number[], texts: readonly string[], span: [number, number]) {
  return texts.flatMap((text, index) => {
    const from = Math.max(span[0], starts[index]!);
    const to = Math.min(span[1], starts[index]! + text.length);
    return from < to ? [{ index, start: from - starts[index]!, end: to - starts[index]! }] : [];
  });
}

const partsOf = (texts: readonly string[]): BodyText[] =>
  texts.map((text, index) => ({ path: ["messages", index, "content"], part: "user", text }));

describe("the parts of a joined text", () => {
  it("that a span covers are found, empty parts and separators apart", () => {
    const offset = fc.integer({ min: 0, max: 40 });
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("", "a", "bcd"), { maxLength: 9 }),
        fc.constantFrom("", "\n", "--"),
        offset,
        offset,
        (texts, separator, start, end) => {
          const parts = partsOf(texts);
          const joined = new Joined(parts, separator, ({ text }) => text);
          expect(joined.text).toBe(texts.join(separator));
          const starts = texts.map((_, index) =>
            texts.slice(0, index).reduce((sum, text) => sum + text.length + separator.length, 0),
          );
          const covered = coveredBy(starts, texts, [start, end]);
          expect(joined.crosses(start, end)).toBe(covered.length > 1);
          expect(joined.spread({ start, end, replacement: "*" })).toEqual(
            covered.map(({ index, ...of }, place) => ({
              part: parts[index],
              span: { ...of, replacement: place === 0 ? "*" : "" },
            })),
          );
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("are found without a look at all of them", () => {
    const count = 100_000;
    const joined = new Joined(partsOf(Array.from({ length: count }, () => "ab")), "", one);
    let crossed = 0;
    for (let at = 1; at < 2 * count - 1; at += 2) {
      if (!joined.crosses(at, at + 2)) continue;
      crossed += joined.spread({ start: at, end: at + 2, replacement: "" }).length;
    }
    expect(crossed).toBe(2 * (count - 1));
  });

  it("are edited across every border of a message of many blocks", async () => {
    const blocks = Array.from({ length: 20_000 }, (_, at) => block(at % 2 === 0 ? "mask" : "me."));
    const body = await judged(ofUser(...blocks));
    const edited = blocks.map((_, at) => block(at % 2 === 0 ? "***" : "."));
    expect(body).toEqual(ofUser(...edited));
  });
});

function one({ text }: BodyText): string {
  return text;
}
