import {
  type ClientRequest,
  GatewayError,
  type JsonObject,
  type KnownEntries,
} from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { describe, expect, it } from "vitest";
import { keeping } from "./index.ts";

const responseId = (digit: string): string => `resp_${digit.repeat(32)}`;
const itemId = (digit: string, at = 0): string => `msg_${digit.repeat(32)}000${at}`;
const said = (id: string, text: string): JsonObject => ({
  id,
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const document = (body: JsonObject) =>
  documentOf(JSON.stringify({ model: "contract/model", ...body }));

function entryOf(input: JsonObject["input"], id: string, ...output: JsonObject[]): JsonObject {
  const reply = { id, object: "response", status: "completed", output, store: false };
  const kept = keeping.entryOf(document({ input }), reply);
  if (kept === undefined) throw new Error("It is not kept.");
  return kept.entry;
}

describe("events", () => {
  const event = (at: number): string =>
    `event: x\ndata: {"type":"x","sequence_number":${at},"delta":"a"}\n\n`;
  const { detached } = keeping;

  it("behind a number are left, without comments", () => {
    const text = `: keep-alive\n\n${event(0)}${event(1)}${event(2)}`;
    expect(detached?.eventsAfter(text, 0)).toBe(event(1) + event(2));
    expect(detached?.eventsAfter(text.replaceAll("\n", "\r\n"), 1)).toBe(
      event(2).replaceAll("\n", "\r\n"),
    );
    expect(detached?.eventsAfter(text, 2)).toBe("");
  });

  it("that are lost end with an error behind the last one", () => {
    const error = new GatewayError("overloaded", "They are gone.");
    for (const [last, number] of [
      ["", 0],
      [event(6) + event(7), 8],
    ] as const)
      expect(detached?.lostEvents(last, error)).toBe(
        `event: error\ndata: {"type":"error","code":"server_is_overloaded","message":"They are gone.","param":null,"sequence_number":${number}}\n\n`,
      );
  });
});

describe("references", () => {
  it("are looked up from the latest one, which holds the earlier items", () => {
    const [first, second] = [said(itemId("a"), "One."), said(itemId("b"), "Two.")];
    const later = entryOf([{ role: "user", content: "Hi." }, first], responseId("b"), second);
    const asked = document({
      input: [
        { type: "item_reference", id: itemId("a") },
        { type: "item_reference", id: itemId("b") },
        { id: itemId("c") },
        { role: "user", content: "More." },
        { type: "item_reference", id: itemId("b") },
      ],
    });
    expect(keeping.references(asked, new Map())).toEqual([responseId("b")]);
    const known = new Map<string, JsonObject | undefined>([[responseId("b"), later]]);
    expect(keeping.references(asked, known)).toEqual([responseId("c")]);
    known.set(responseId("c"), entryOf("Hi.", responseId("c"), said(itemId("c"), "Three.")));
    expect(keeping.references(asked, known)).toEqual([]);
    expect(keeping.open(asked, known, false)).toMatchObject({
      itemsBefore: 0,
      document: {
        value: {
          store: false,
          input: [first, second, said(itemId("c"), "Three."), { role: "user" }, second],
        },
      },
    });
  });

  it("to more than 64 responses are refused", () => {
    const input = Array.from({ length: 66 }, (_, at) => ({
      type: "item_reference",
      id: `msg_${String(at).padStart(32, "0")}0000`,
    }));
    const [latest = ""] = keeping.references(document({ input }), new Map());
    const known: KnownEntries = new Map([[latest, undefined]]);
    expect(() => keeping.references(document({ input }), known)).toThrow(/more than 64/);
  });

  it("to what is not there are refused with the client's path", () => {
    const open = (body: JsonObject) => () => keeping.open(document(body), new Map(), false);
    const previous = { previous_response_id: responseId("a"), input: "Hi." };
    expect(open(previous)).toThrow(
      expect.objectContaining({ code: "invalid_field", param: "previous_response_id" }),
    );
    expect(open({ input: ["x", { type: "item_reference", id: "other" }] })).toThrow(
      expect.objectContaining({ code: "invalid_field", param: "input[1].id" }),
    );
    for (const odd of [7, {}, ["x"]])
      expect(() => keeping.references(document({ previous_response_id: odd }), new Map())).toThrow(
        expect.objectContaining({ code: "invalid_field", param: "previous_response_id" }),
      );
    expect(keeping.references(document({ previous_response_id: "other" }), new Map())).toEqual([]);
  });
});

describe("an entry", () => {
  it("has an id of its own for every item, and messages in parts", () => {
    const entry = entryOf(
      [
        { role: "user", content: "Hi." },
        { id: "msg_mine", role: "assistant", content: "Yes." },
        { id: "msg_mine", role: "user", content: [] },
        { type: "function_call_output", call_id: "call_1", output: "ok" },
      ],
      responseId("a"),
    );
    const ids = "a".repeat(32);
    expect(entry.input).toEqual([
      {
        id: `msg_${ids}i0000`,
        type: "message",
        role: "user",
        status: "completed",
        content: [{ type: "input_text", text: "Hi." }],
      },
      {
        id: "msg_mine",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Yes.", annotations: [] }],
      },
      {
        id: `msg_${ids}i0002`,
        type: "message",
        role: "user",
        status: "completed",
        content: [],
      },
      {
        id: `fco_${ids}i0003`,
        type: "function_call_output",
        call_id: "call_1",
        output: "ok",
      },
    ]);
  });

  it("is made of whole responses alone", () => {
    const reply = (status: string, id = responseId("a")) =>
      keeping.entryOf(document({ input: "Hi." }), { id, status, output: [] });
    for (const status of ["completed", "incomplete"])
      expect(reply(status)?.reply).toMatchObject({ status, store: true });
    for (const status of ["failed", "in_progress", "cancelled", "queued"])
      expect(reply(status)).toBeUndefined();
    expect(reply("completed", "resp_other")).toBeUndefined();
  });

  it("of a response in the background says that it is being made, then how it ended", () => {
    const asked = document({ input: "Hi.", stream: true });
    const begun = { id: responseId("a"), status: "queued", background: true, output: [] };
    const { entry, reply } = keeping.entryOf(asked, begun) ?? {};
    const { detached } = keeping;
    if (entry === undefined || detached === undefined) throw new Error("It is not kept.");
    expect(reply).toMatchObject({ status: "queued", store: true });
    expect(entry).toMatchObject({ response: { status: "in_progress" }, events: true });
    expect(detached.isRunning(entry)).toBe(true);
    const failed = detached.ended(entry, new GatewayError("upstream_timeout", "Too late."));
    expect(failed).toMatchObject({
      response: { status: "failed", error: { code: "server_error", message: "Too late." } },
    });
    const left = detached.ended(entry, new GatewayError("client_closed", "Ended."));
    expect(left).toMatchObject({ response: { status: "cancelled", error: null } });
    for (const each of [failed, left]) expect(detached.isRunning(each)).toBe(false);
    const more = document({ input: "More.", previous_response_id: responseId("a") });
    expect(() => keeping.open(more, new Map([[responseId("a"), entry]]), false)).toThrow(
      /is in_progress/,
    );
  });

  it("is named by the path, where that holds an id of a response", () => {
    const client = (id: string): ClientRequest =>
      ({ parameters: { response_id: id } }) as Partial<ClientRequest> as ClientRequest;
    expect(keeping.idOf(client(responseId("a")))).toBe(responseId("a"));
    for (const odd of ["", "resp_", "resp_A", `msg_${"a".repeat(32)}`, `${responseId("a")}\n`])
      expect(keeping.idOf(client(odd))).toBeUndefined();
  });
});
