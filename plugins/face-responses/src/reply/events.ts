/** The events of one stream: named, and numbered from 0. */

/** Gets each event: its type, and its further members as JSON text. */
export type EventSink = (type: string, members: string) => void;

/** Writes events as text. */
export class EventText {
  #number = 0;
  #text = "";

  readonly add: EventSink = (type, members) => {
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number},${members}}\n\n`;
    this.#number += 1;
  };

  /** The text since the last call. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** Drops every event: a whole reply has none. */
export const NO_EVENTS: EventSink = () => undefined;

/** A place of events: the members that all events of one item share, as JSON text. */
export function placeOf(id: string, index: number, part?: string): string {
  return `"item_id":${JSON.stringify(id)},"output_index":${index}${part === undefined ? "" : `,${part}`}`;
}
