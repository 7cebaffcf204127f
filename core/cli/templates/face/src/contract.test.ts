import { faceContract } from "@sluice/testing";
import { describe, it } from "vitest";
import definition from "./index.ts";

faceContract({ describe, it }, definition, {
  fixtures: new URL("../fixtures/", import.meta.url),
  request: { model: "contract/model", say: "Hello." },
  // What a client makes of a stream: the suite compares it with the whole reply.
  fold: (events) => {
    const values = events.map(({ data }) => JSON.parse(data) as Record<string, unknown>);
    const text = values.map((value) => value.text ?? "").join("");
    return { text, tokens: Number(values.at(-1)?.tokens) };
  },
});
