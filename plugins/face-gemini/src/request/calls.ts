/**
 * Calls of tools and their results. Older clients send no ids: position and name identify a call.
 */

import { invalidField } from "@sluice/kit/dialect";

interface Call {
  readonly id: string;
  readonly name: string;
  /** Whether the client sent the id. */
  readonly isNamed: boolean;
  isAnswered: boolean;
}

/** The calls of a conversation so far. */
export class Calls {
  readonly #all: Call[] = [];

  /** Adds a call; without an id it gets `call_{n}`, counted through the conversation. */
  add(name: string, id: string | undefined): string {
    const call: Call = {
      id: id ?? `call_${this.#all.length}`,
      name,
      isNamed: id !== undefined,
      isAnswered: false,
    };
    this.#all.push(call);
    return call.id;
  }

  /**
   * The id of the call that a result answers: the one with this id, else the first without an
   * answer that has this name. Throws `invalid_field` when there is none.
   */
  answer(name: string, id: string | undefined, path: string): string {
    const open = this.#all.filter(({ isAnswered }) => !isAnswered);
    const call =
      id === undefined
        ? open.find((each) => each.name === name)
        : (open.find((each) => each.isNamed && each.id === id) ??
          open.find((each) => !each.isNamed && each.name === name));
    if (call === undefined)
      throw invalidField(
        id === undefined ? `${path}.name` : `${path}.id`,
        `the ${id === undefined ? "name" : "id"} of a call of an earlier content that has no result yet`,
      );
    call.isAnswered = true;
    return call.id;
  }
}
