/**
 * Calls of tools and their results. Older clients send no ids: position and name identify a call.
 */

import { invalidField } from "@sluice/kit/dialect";

interface Call {
  readonly id: string;
  isAnswered: boolean;
}

/** Calls in their order, of which those with an answer are skipped. */
class OpenCalls {
  readonly #calls: Call[] = [];
  #from = 0;

  add(call: Call): void {
    this.#calls.push(call);
  }

  /** The first call without an answer. */
  first(): Call | undefined {
    while (this.#calls[this.#from]?.isAnswered === true) this.#from += 1;
    return this.#calls[this.#from];
  }
}

/** The calls of a conversation so far. */
export class Calls {
  #count = 0;
  /** Calls by the id that the client sent; all by name; those without an id by name. */
  readonly #byId = new Map<string, OpenCalls>();
  readonly #byName = new Map<string, OpenCalls>();
  readonly #unnamed = new Map<string, OpenCalls>();

  /** Adds a call; without an id it gets `call_{n}`, counted through the conversation. */
  add(name: string, id: string | undefined): string {
    const call: Call = { id: id ?? `call_${this.#count}`, isAnswered: false };
    this.#count += 1;
    addTo(this.#byName, name, call);
    if (id === undefined) addTo(this.#unnamed, name, call);
    else addTo(this.#byId, id, call);
    return call.id;
  }

  /**
   * The id of the call that a result answers: the one with this id, else the first without an
   * answer that has this name. Throws `invalid_field` when there is none.
   */
  answer(name: string, id: string | undefined, path: string): string {
    const call =
      id === undefined
        ? this.#byName.get(name)?.first()
        : (this.#byId.get(id)?.first() ?? this.#unnamed.get(name)?.first());
    if (call === undefined)
      throw invalidField(
        id === undefined ? `${path}.name` : `${path}.id`,
        `the ${id === undefined ? "name" : "id"} of a call of an earlier content that has no result yet`,
      );
    call.isAnswered = true;
    return call.id;
  }
}

function addTo(calls: Map<string, OpenCalls>, key: string, call: Call): void {
  const open = calls.get(key) ?? new OpenCalls();
  calls.set(key, open);
  open.add(call);
}
