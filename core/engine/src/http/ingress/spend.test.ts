import { describe, expect, it } from "vitest";
import { writtenDocument } from "@sluice/kit/internals";
import type { JsonObject } from "@sluice/contract";
import { receiveSpend } from "./spend.ts";

const messages = [{ role: "user", content: "hi" }];
const reply = { model: "m", usage: {} };

describe("a calculation's body", () => {
  it.each([
    { model: "m", messages },
    { model: "m", messages, completion_response: null, tools: [] },
    { completion_response: reply },
    { model: null, messages: null, completion_response: reply },
  ])("may be one of two forms: %j", (body: JsonObject) => {
    const request = receiveSpend(writtenDocument(body));
    expect(request).toMatchObject({ stream: false, model: body.model ?? "" });
    expect(request.document.value).toEqual(body);
  });

  it.each([
    [{}, "model"],
    [{ model: null, messages: null, completion_response: null }, "model"],
    [{ model: "m", messages, completion_response: reply }, "completion_response"],
    [{ model: "m", completion_response: reply }, "completion_response"],
    [{ messages, completion_response: reply }, "completion_response"],
    [{ model: "m" }, "messages"],
    [{ messages }, "model"],
    [{ model: "", messages }, "model"],
    [{ model: 7, messages }, "model"],
    [{ model: "m", messages: [] }, "messages"],
    [{ model: "m", messages: "hi" }, "messages"],
    [{ model: "m", messages: [7] }, "messages[0]"],
    [{ completion_response: [] }, "completion_response"],
    [{ completion_response: "text" }, "completion_response"],
  ])("is refused with the field's name: %j", (body: JsonObject, param) => {
    expect(() => receiveSpend(writtenDocument(body))).toThrow(
      expect.objectContaining({ code: "invalid_field", status: 400, param }),
    );
  });
});
