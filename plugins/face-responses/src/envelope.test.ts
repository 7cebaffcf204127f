import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "@sluice/contract";
import { FACE_CONTEXT, FACE_MEANS } from "@sluice/testing";
import { open as openWith, seal as sealWith, type Thoughts } from "./envelope.ts";

const THOUGHTS: Thoughts = {
  text: "Ä “thought”.",
  blocks: [
    { type: "thinking", thinking: "Hm.", signature: "c2ln" },
    { type: "redacted_thinking", data: "ZGF0YQ==" },
  ],
  calls: [["call_1", { google: { thought_signature: "QQ==" } }]],
  extra: { google: { thought_signature: "Qg==" } },
};

const seal = (thoughts: Thoughts): string => sealWith(thoughts, FACE_CONTEXT);
const open = (value: JsonValue | undefined): Thoughts | undefined => openWith(value, FACE_MEANS);

const encoded = (value: JsonValue): string =>
  `sluice.2.${Buffer.from(JSON.stringify(value)).toString("base64url")}`;

describe("an envelope", () => {
  it("opens to what was sealed", () => {
    expect(open(seal(THOUGHTS))).toEqual({ ...THOUGHTS, deployment: "contract/deployment" });
  });

  it("does not open when it is cut, changed, or of another origin", () => {
    const sealed = seal(THOUGHTS);
    const others = [
      sealed.slice(0, -1),
      sealed.replace("sluice.2.", "sluice.1."),
      `${sealed}=`,
      "gAAAAABo",
      "",
      encoded([]),
      encoded("text"),
      encoded({ blocks: [{ type: "text", text: "x" }] }),
      encoded({ blocks: [{ type: "thinking" }] }),
      encoded({ blocks: {} }),
      encoded({ calls: [["call_1", "x"]] }),
      encoded({ text: 7 }),
      encoded({ extra: "x" }),
    ];
    for (const other of others) expect(open(other)).toBeUndefined();
    for (const other of [null, 7, {}, undefined]) expect(open(other)).toBeUndefined();
  });

  it("of any content opens without an error", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const odd = [{ blocks: value }, { calls: value, text: value }, value] as JsonValue[];
        for (const each of odd) expect(() => open(encoded(each))).not.toThrow();
      }),
    );
  });
});
