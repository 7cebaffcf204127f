/** Ids and names of the calls of one reply, as the client gets them. */

import type { FaceContext, JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members, ToolNames } from "@sluice/kit/dialect";
import { clientCallId } from "../call-ids.ts";
import type { State } from "../read/request.ts";

/**
 * Writes the starts of calls. The API refuses a conversation in which two calls have one id; an
 * upstream may leave ids out, or repeat one.
 */
export class CallHeads {
  readonly #names: State["names"];
  readonly #prefix: string;
  readonly #ids = new Set<string>();

  constructor({ names }: State, { requestId }: FaceContext) {
    this.#names = names;
    this.#prefix = `toolu_${requestId.replaceAll("-", "")}`;
  }

  /** The start with the id and the name that a piece of its call has. The first ones count. */
  with(start: JsonObject, call: JsonObject): JsonObject {
    if (start.id !== "" && start.name !== "") return start;
    const made = isObject(call.function) ? call.function : {};
    const id = start.id === "" ? Members.textIn(call.id) : undefined;
    const name = start.name === "" ? Members.textIn(made.name) : undefined;
    return {
      ...start,
      ...(id === undefined ? {} : { id: this.#unique(clientCallId(id)) }),
      ...(name === undefined ? {} : { name: ToolNames.clientName(name, this.#names) }),
    };
  }

  /** The start with an id. */
  identified(start: JsonObject): JsonObject {
    return start.id === "" ? { ...start, id: this.#unique("") } : start;
  }

  #unique(id: string): string {
    const own = id === "" || this.#ids.has(id) ? `${this.#prefix}${this.#ids.size}` : id;
    this.#ids.add(own);
    return own;
  }
}
