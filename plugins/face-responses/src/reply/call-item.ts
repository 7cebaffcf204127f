/** A call of a tool: a function, a custom tool, or a tool with an item type of its own. */

import { Members } from "@sluice/kit/dialect";
import type { JsonObject } from "@sluice/contract";
import type { ToolName } from "../state.ts";
import { isTyped, TYPED_TOOLS } from "../typed-tools.ts";
import { CustomInput } from "./custom-input.ts";
import {
  emitAdded,
  emitDone,
  type ItemPlace,
  type ItemStatus,
  type OpenItem,
  TextPart,
} from "./open-item.ts";

/** A call that begins. */
export interface BegunCall {
  /** Its index in the reference dialect. */
  readonly index: number;
  readonly callId: string;
  readonly tool: ToolName;
}

/** The form of a call's item. */
interface Form {
  add(piece: string): void;
  /** Writes the end of the call, before that of its item. */
  end(status: ItemStatus): void;
  item(status: string): JsonObject;
}

/** The item while it is written. */
export class CallItem implements OpenItem {
  readonly index: number;
  readonly #place: ItemPlace;
  readonly #form: Form;
  readonly #arguments = new Members.ObjectText();

  constructor(place: ItemPlace, call: BegunCall) {
    this.index = call.index;
    this.#place = place;
    this.#form = formOf(place, call);
  }

  arguments(piece: string): void {
    if (piece === "") return;
    this.#arguments.add(piece);
    this.#form.add(piece);
  }

  /** Whether the arguments are a whole JSON object: none follow. */
  get isComplete(): boolean {
    return this.#arguments.isWhole;
  }

  close(status: ItemStatus): JsonObject {
    this.#form.end(status);
    return emitDone(this.#place, this.#form.item(status));
  }

  snapshot(status: ItemStatus): JsonObject {
    return this.#form.item(status);
  }
}

function formOf(place: ItemPlace, call: BegunCall): Form {
  const { kind } = call.tool;
  if (kind === "custom") return customForm(place, call);
  return isTyped(kind) ? typedForm(place, call) : functionForm(place, call);
}

function functionForm(place: ItemPlace, { callId, tool }: BegunCall): Form {
  const text = new TextPart(place, "response.function_call_arguments");
  const item: Form["item"] = (status) => functionItem(place, callId, tool, text.text, status);
  emitAdded(place, item("in_progress"));
  return {
    add: (piece) => text.add(piece),
    end: (status) => {
      // Clients parse the arguments of a whole call.
      if (text.text === "" && status === "completed") text.add("{}");
      text.done("arguments", `,"name":${JSON.stringify(tool.name)}`);
    },
    item,
  };
}

function customForm(place: ItemPlace, { callId, tool }: BegunCall): Form {
  const text = new TextPart(place, "response.custom_tool_call_input");
  const input = new CustomInput();
  const add = (piece: string): void => {
    if (piece !== "") text.add(piece);
  };
  const item: Form["item"] = (status) => ({
    id: place.id,
    type: "custom_tool_call",
    call_id: callId,
    ...named(tool),
    input: text.text,
    status,
  });
  emitAdded(place, item("in_progress"));
  return {
    add: (piece) => add(input.add(piece)),
    end: () => {
      add(input.end());
      text.done("input");
    },
    item,
  };
}

/**
 * Its arguments are an object, so the item begins when they are whole. Arguments that do not fit
 * the tool stay readable, as those of a function.
 */
function typedForm(place: ItemPlace, { callId, tool }: BegunCall): Form {
  const { call: type, write } = TYPED_TOOLS[tool.kind as keyof typeof TYPED_TOOLS];
  let text = "";
  const item: Form["item"] = (status) => {
    const given = Members.parse(text);
    const members = given === undefined ? undefined : write(given);
    return members === undefined
      ? functionItem(place, callId, tool, text, status)
      : { id: place.id, type, call_id: callId, ...members, status };
  };
  return {
    add: (piece) => {
      text += piece;
    },
    end: () => emitAdded(place, item("in_progress")),
    item,
  };
}

function functionItem(
  { id }: ItemPlace,
  callId: string,
  tool: ToolName,
  text: string,
  status: string,
): JsonObject {
  return {
    id,
    type: "function_call",
    call_id: callId,
    ...named(tool),
    arguments: text,
    status,
  };
}

function named({ name, namespace }: ToolName): JsonObject {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}
