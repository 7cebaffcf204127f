import { describe, expect, it } from "vitest";
import { Relay } from "./relay.ts";

const rules = { dialect: "own", model: "client", modelAt: [["model"]] };
const event = (data: object) => ({ event: undefined, data: JSON.stringify(data) });

describe("a relay of a dialect with edits", () => {
  const relay = (): Relay => new Relay({ ...rules, edits: "secret" });

  it("says which batches have none of them", () => {
    const made = relay();
    made.event(event({ text: "a" }), false);
    made.run('data: {"text":"secret"}\n\n', true);
    expect(made.take()).toMatchObject({ isBare: true });
    made.event(event({ item: { secret: "x" } }), false);
    expect(made.take()).toMatchObject({ isBare: false });
    made.event(event({ text: "b" }), false);
    expect(made.take()).toMatchObject({ isBare: true });
  });

  it("says it of a run whose form has one, in each batch", () => {
    const made = relay();
    made.event(event({ secret: "x", text: "a" }), false);
    made.take();
    made.run('data: {"secret":"x","text":"b"}\n\n', true);
    expect(made.take()).toMatchObject({ isBare: false });
  });

  it("lets no form of an event without one go on behind an event with one, and back", () => {
    const made = relay();
    expect(made.event(event({ text: "a" }), false)).toBe("same");
    expect(made.event(event({ secret: "x" }), false)).toBe("other");
    expect(made.event(event({ secret: "y" }), false)).toBe("same");
    expect(made.event(event({ text: "b" }), false)).toBe("other");
  });
});

it("a relay of a dialect without edits does not say whether a batch has one", () => {
  const made = new Relay(rules);
  made.event(event({ text: "a" }), false);
  expect(made.take()).not.toHaveProperty("isBare");
});

describe("a relay of a dialect without an end mark", () => {
  const relay = (): Relay => new Relay({ ...rules, lastHas: ["candidates", "finishReason"] });
  const STOP = { candidates: [{}, { finishReason: "STOP" }] };
  const call = (args: object) => ({ candidates: [{ content: { functionCall: { args } } }] });

  it("holds back the event that has the member at its place, and those behind it", () => {
    const made = relay();
    made.event(event({ candidates: [{ content: "a" }] }), false);
    made.event(event(STOP), false);
    made.event(event({ usage: 1 }), false);
    const { text, end } = made.take()!;
    expect(text.match(/data/g)).toHaveLength(1);
    expect(end.match(/data/g)).toHaveLength(2);
  });

  it.each([
    ["in the arguments of a call", call({ finishReason: "STOP" })],
    ["at the outermost object", { finishReason: "STOP" }],
    ["without a text", { candidates: [{ finishReason: null }] }],
    ["in an array of an array", { candidates: [[{ finishReason: "STOP" }]] }],
  ])("holds back no event that has the member %s", (_name, data) => {
    const made = relay();
    made.event(event(data), false);
    expect(made.take()).toMatchObject({ end: "" });
  });

  it("holds back the last event behind a call with a member of that name", () => {
    const made = relay();
    const { candidates } = call({ finishReason: 1 });
    made.event(event({ candidates: [...candidates, ...STOP.candidates] }), false);
    expect(made.take()).toMatchObject({ text: "" });
  });
});
