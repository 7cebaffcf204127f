/** Events of one form that were read together, and their frames. */

import type { Frame, JsonObject } from "@sluice/contract";
import { parseJson } from "../json/parse.ts";

/** The text of a frame around the texts that it shows. */
export interface FrameShape {
  readonly head: string;
  /** The text behind each shown text. The last one ends the frame. */
  readonly behind: readonly string[];
  /** The index of the shown text that is the reply's own. */
  readonly said: number;
}

/** Bytes of an event around its data: `data: ` and two line feeds. */
const EVENT_BYTES = 8;

/** The text of a run's events as they came. */
export interface RunWire {
  readonly text: string;
  readonly isAscii: boolean;
}

/** A run of events as it is read. */
export interface RunParts {
  /** The frames as server-sent events. Absent: they are written when they are asked for. */
  readonly text?: string | undefined;
  /** The events as they came, where they are relayed. */
  readonly wire?: RunWire | undefined;
  /** Whether the text is ASCII. `false` where that is not known. */
  readonly isAscii: boolean;
  /**
   * The inside of each JSON string that the frames show, frame by frame; or what reads them of the
   * events.
   */
  readonly pieces: readonly string[] | (() => readonly string[]);
  /** The characters of the pieces. */
  readonly characters: number;
  readonly count: number;
  /** The offset behind the last event. */
  readonly end: number;
  /** The data of the last event. */
  readonly lastData: string;
}

/** Frames that differ in their texts alone. They are made when a step asks for them. */
export class FrameRun implements RunParts {
  readonly wire: RunWire | undefined;
  readonly isAscii: boolean;
  readonly characters: number;
  readonly count: number;
  readonly end: number;
  readonly lastData: string;
  readonly #shape: FrameShape;
  #pieces: RunParts["pieces"];
  #text: string | undefined;
  #last: Frame | undefined;

  constructor(
    shape: FrameShape,
    { text, wire, isAscii, pieces, characters, count, end, lastData }: RunParts,
  ) {
    this.#shape = shape;
    this.#text = text;
    this.wire = wire;
    this.isAscii = isAscii;
    this.#pieces = pieces;
    this.characters = characters;
    this.count = count;
    this.end = end;
    this.lastData = lastData;
  }

  get pieces(): readonly string[] {
    if (typeof this.#pieces === "function") this.#pieces = this.#pieces();
    return this.#pieces;
  }

  /** The frames as server-sent events. */
  get text(): string {
    this.#text ??= this.frames()
      .map(({ raw }) => `data: ${raw}\n\n`)
      .join("");
    return this.#text;
  }

  /** The frames, one by one. */
  frames(): Frame[] {
    return Array.from({ length: this.count }, (_, index) => this.#frame(index));
  }

  /** The first frame. */
  get first(): Frame {
    return this.#frame(0);
  }

  /** Whether each frame shows one text alone: its piece. */
  get showsOneText(): boolean {
    return this.#shape.behind.length === 1;
  }

  /** The last frame. */
  get last(): Frame {
    this.#last ??= this.#frame(this.count - 1);
    return this.#last;
  }

  /** Bytes of the frames' texts. */
  get bytes(): number {
    const { isAscii, characters, count, wire } = this;
    // What is relayed is counted there. The text of the frames is not made to measure it.
    if (this.#text === undefined && wire !== undefined) return characters;
    const { text } = this;
    return (isAscii ? text.length : Buffer.byteLength(text)) - count * EVENT_BYTES;
  }

  /**
   * A frame of this form that says another text: it shows where the frames say theirs. The text
   * must need no escapes in JSON.
   */
  saying(text: string): Frame {
    const { behind, said } = this.#shape;
    const { length } = behind;
    return new RunFrame(this.#shape, { pieces: this.pieces.slice(0, length).with(said, text) }, 0);
  }

  /** The inside of the JSON strings that the frames say, joined. */
  said(): string {
    const { behind, said } = this.#shape;
    const { length } = behind;
    const { pieces } = this;
    return (length === 1 ? pieces : pieces.filter((_, index) => index % length === said)).join("");
  }

  #frame(index: number): Frame {
    return new RunFrame(this.#shape, this, index);
  }
}

class RunFrame implements Frame {
  readonly #shape: FrameShape;
  readonly #run: { readonly pieces: readonly string[] };
  readonly #index: number;
  #raw: string | undefined;
  #chunk: JsonObject | undefined;

  constructor(shape: FrameShape, run: { readonly pieces: readonly string[] }, index: number) {
    this.#shape = shape;
    this.#run = run;
    this.#index = index;
  }

  get raw(): string {
    if (this.#raw === undefined) {
      const { head, behind } = this.#shape;
      const { pieces } = this.#run;
      let raw = head;
      for (const [at, text] of behind.entries())
        raw += (pieces[this.#index * behind.length + at] ?? "") + text;
      this.#raw = raw;
    }
    return this.#raw;
  }

  chunk(): JsonObject {
    this.#chunk ??= parseJson(this.raw) as JsonObject;
    return this.#chunk;
  }
}
