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
  done(): void;
  item(status: string): JsonObject;
}

/** The item while it is written. */
export class CallItem implements OpenItem {
  readonly index: number;
  readonly #place: ItemPlace;
  readonly #form: Form;
  #arguments = "";
  #isComplete: boolean | undefined;

  constructor(place: ItemPlace, call: BegunCall) {
    this.index = call.index;
    this.#place = place;
    this.#form = formOf(place, call);
    emitAdded(place, this.#form.item("in_progress"));
  }

  arguments(piece: string): void {
    if (piece === "") return;
    this.#arguments += piece;
    this.#isComplete = undefined;
    this.#form.add(piece);
  }

  /** Whether the arguments are a whole JSON object: none follow. */
  get isComplete(): boolean {
    this.#isComplete ??=
      /[}\s]/.test(this.#arguments.slice(-1)) && Members.parse(this.#arguments) !== undefined;
    return this.#isComplete;
  }

  close(status: ItemStatus): JsonObject {
    this.#form.done();
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
  const name = JSON.stringify(tool.name);
  return {
    add: (piece) => text.add(piece),
    done: () => text.done("arguments", `,"name":${name}`),
    item: (status) => ({
      id: place.id,
      type: "function_call",
      call_id: callId,
      ...named(tool),
      arguments: text.text,
      status,
    }),
  };
}

function customForm(place: ItemPlace, { callId, tool }: BegunCall): Form {
  const text = new TextPart(place, "response.custom_tool_call_input");
  const input = new CustomInput();
  const add = (piece: string): void => {
    if (piece !== "") text.add(piece);
  };
  return {
    add: (piece) => add(input.add(piece)),
    done: () => {
      add(input.end());
      text.done("input");
    },
    item: (status) => ({
      id: place.id,
      type: "custom_tool_call",
      call_id: callId,
      ...named(tool),
      input: text.text,
      status,
    }),
  };
}

/** Its arguments are an object, so they are known at the end alone. */
function typedForm(place: ItemPlace, { callId, tool }: BegunCall): Form {
  const { call: type, write } = TYPED_TOOLS[tool.kind as keyof typeof TYPED_TOOLS];
  let text = "";
  return {
    add: (piece) => {
      text += piece;
    },
    done: () => undefined,
    item: (status) => ({
      id: place.id,
      type,
      call_id: callId,
      ...(write(Members.parse(text) ?? {}) ?? write(EMPTY)),
      status,
    }),
  };
}

/** Arguments that fit every tool: a client sees that the model sent others. */
const EMPTY: JsonObject = { command: [], commands: [], type: "update_file", path: "", diff: "" };

function named({ name, namespace }: ToolName): JsonObject {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}
