import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EditSpan, Frame } from "@sluice/contract";
import {
  deltaFrame,
  guardrailSetOf,
  instanceOf,
  masking,
  streamOf,
} from "@sluice/testing/guardrail-instances";
import { matchSpans } from "@sluice/kit/guard";
import { Channel } from "./channel.ts";
import type { StreamPiece } from "./dialect.ts";

const WORD = /abc|d/g;
const MASK = "<>";

function pieceOf(text: string): StreamPiece {
  return { channel: "0/content", part: "content", path: ["choices", 0, "delta", "content"], text };
}

/** What the frames of one channel say when its text is checked. */
async function written(
  texts: readonly string[],
  mode: "window" | "hold",
  instances = [instanceOf("mask", masking(WORD, 3, MASK))],
): Promise<string[]> {
  const { set } = guardrailSetOf(instances);
  const channel = new Channel(pieceOf(""), streamOf(set, { mode, maxHeld: 10_000_000 }));
  const ready: Frame[] = [];
  for (const text of texts) {
    await channel.push(deltaFrame({ content: text }), pieceOf(text));
    channel.release(ready);
  }
  await channel.end();
  channel.release(ready);
  return ready.map((frame) => {
    const [choice] = frame.chunk().choices as unknown as [{ delta: { content: string } }];
    return choice.delta.content;
  });
}

/** The pieces with their edits: each character of each piece is looked at. */
function editedPieces(texts: readonly string[]): string[] {
  const spans: readonly EditSpan[] = matchSpans(texts.join(""), WORD, MASK);
  const starts = new Map(spans.map((span) => [span.start, span.replacement]));
  const isInside = (at: number): boolean => spans.some(({ start, end }) => start <= at && at < end);
  let at = 0;
  return texts.map((text) => {
    let edited = "";
    for (const character of text) {
      edited += starts.get(at) ?? (isInside(at) ? "" : character);
      at++;
    }
    return edited;
  });
}

describe("the frames of a channel", () => {
  it("have the edits of their own pieces, wherever the text is cut", async () => {
    const piece = fc
      .array(fc.constantFrom("a", "b", "c", "abc", "d", " "), { maxLength: 6 })
      .map((words) => words.join(""));
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 12 }),
        fc.constantFrom("window", "hold"),
        async (texts, mode) => {
          expect(await written(texts, mode)).toEqual(editedPieces(texts));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("are written with very many edits in one of them, and in all", async () => {
    const count = 100_000;
    const both = [instanceOf("d", masking(/d/g, 1, MASK)), instanceOf("e", masking(/e/g, 1, MASK))];
    expect(await written(["d e ".repeat(count)], "window", both)).toEqual([
      `${MASK} `.repeat(2 * count),
    ]);
    const texts = Array.from({ length: 20_000 }, () => "d ab");
    expect((await written([...texts, "c"], "hold")).join("")).toBe(
      `${`${MASK} ab`.repeat(texts.length - 1)}${MASK} ${MASK}`,
    );
  });
});
