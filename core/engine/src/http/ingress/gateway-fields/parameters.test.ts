import { describe, expect, it } from "vitest";
import type { Operation } from "@sluice/contract";
import { PARAMETERS } from "@sluice/kit/openai";
import { bodyOf } from "../body-schemas.ts";
import { GATEWAY_FIELDS } from "./table.ts";

/** What a request is, and what the gateway itself honours. */
const NOT_ASKED = new Set([
  "messages",
  "input",
  "prompt",
  "stream",
  "stream_options",
  "user",
  ...Object.keys(GATEWAY_FIELDS),
]);

describe("the kit's list of parameters", () => {
  it.each<Operation>(["chat", "embeddings", "images"])(
    "holds every optional field of %s",
    (operation) => {
      const fields = Object.keys(bodyOf(operation)?.properties as object).filter(
        (name) => !NOT_ASKED.has(name),
      );
      expect([...(PARAMETERS[operation] ?? [])].toSorted()).toEqual(fields.toSorted());
    },
  );
});
