import { readFileSync } from "node:fs";
import fc from "fast-check";
import { LineCounter, parseDocument } from "yaml";
import { describe, expect, it } from "vitest";

import { atOnce } from "./slices.ts";
import { parseInPieces } from "./yaml.ts";

const shipped = readFileSync(
  new URL("../../../../../config/gateway.yaml", import.meta.url),
  "utf8",
);
const OPTIONS = {
  prettyErrors: false,
  schema: "core",
  merge: false,
  stringKeys: true,
  strict: true,
  uniqueKeys: true,
} as const;

/** What of a document the configuration depends on. */
function parsed(text: string, { yaml, lines }: ReturnType<typeof ownParse>) {
  const places = Array.from({ length: 20 }, (_, part) =>
    lines.linePos(Math.floor((text.length * part) / 20)),
  );
  const faults = [...yaml.errors, ...yaml.warnings].map(({ code, pos }) => ({ code, pos }));
  return { value: faults.length > 0 ? undefined : (yaml.toJS() as unknown), faults, places };
}

function ownParse(text: string) {
  return atOnce(parseInPieces(text));
}

function packageParse(text: string) {
  const lines = new LineCounter();
  return { yaml: parseDocument(text, { ...OPTIONS, lineCounter: lines }), lines };
}

describe("parsing in pieces", () => {
  it("reads what the package reads, with its faults in their places", () => {
    const texts = [
      "",
      "a: 1\n---\nb: 2\n",
      "a: [1, 2\nb: 3\n",
      "\ta: 1\n",
      "a: 1\na: 2\n",
      "a: !what 1\n",
      "a: &b 1\nc: *b\n",
      "- x\n- y: {z: 1}\n",
    ];
    for (const text of [shipped, ...texts])
      expect(parsed(text, ownParse(text))).toEqual(parsed(text, packageParse(text)));
  });

  it("reads every cut of a file as the package does", () => {
    fc.assert(
      // The shipped file has no alias, so that no cut leaves one without its anchor.
      fc.property(fc.nat(shipped.length), fc.nat(200), (from, length) => {
        const text = shipped.slice(0, from) + shipped.slice(from + length);
        expect(parsed(text, ownParse(text))).toEqual(parsed(text, packageParse(text)));
      }),
      { numRuns: 40 },
    );
  });

  it("comes in many pieces", () => {
    expect([...parseInPieces(shipped)].length).toBeGreaterThan(10);
  });
});
