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
