import { faceContract } from "@sluice/testing";
import { describe, it } from "vitest";
import { comparable, eventsOf, foldedEvents } from "./fold.fixture.ts";
import { gemini } from "./index.ts";

faceContract({ describe, it }, gemini, {
  fixtures: new URL("../fixtures/", import.meta.url),
  request: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
  readEvents: eventsOf,
  fold: (events) => foldedEvents(events.map(({ data }) => JSON.parse(data))),
  comparable,
});
