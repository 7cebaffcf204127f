/** The events of one stream: named, and numbered from 0. */

/** Gets each event: its type, and its further members as JSON text. */
export type EventSink = (type: string, members: string) => void;

/** A member whose text differs from event to event, as JSON text. */
export interface TextMember {
  /** The members before the text, up to its quotation mark. */
  readonly head: string;
  /** The insides of JSON strings, one for each event. An empty one has no event. */
  readonly insides: readonly string[];
  /** The members behind the text, from its quotation mark on. */
  readonly tail: string;
}

/** Gets events of one type that differ in one text alone. */
export type TextSink = (type: string, member: TextMember) => void;

/** Gets the events of one reply. */
export interface Events {
  readonly add: EventSink;
  readonly addTexts: TextSink;
  /** Whether they are dropped: no text of them is made. */
  readonly isSilent: boolean;
}

/** Writes events as text. */
export class EventText implements Events {
  #number = 0;
  #text = "";
  readonly isSilent = false;

  readonly add: EventSink = (type, members) => {
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number},${members}}\n\n`;
    this.#number += 1;
  };

  readonly addTexts: TextSink = (type, { head, insides, tail }) => {
    const begin = `event: ${type}\ndata: {"type":"${type}","sequence_number":`;
    const between = `,${head}`;
    const end = `${tail}}\n\n`;
    for (const inside of insides) {
      if (inside === "") continue;
      this.#text += begin + this.#number + between + inside + end;
      this.#number += 1;
    }
  };

  /** The text since the last call. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

/** Drops every event: a whole reply has none. */
export const NO_EVENTS: Events = {
  add: () => undefined,
  addTexts: () => undefined,
  isSilent: true,
};

/** A place of events: the members that all events of one item share, as JSON text. */
export function placeOf(id: string, index: number, part?: string): string {
  return `"item_id":${JSON.stringify(id)},"output_index":${index}${part === undefined ? "" : `,${part}`}`;
}
