/** Reads server-sent events, and those of a known form in runs: no event of a run is parsed. */

import { isAscii } from "node:buffer";
import type { EventReader, UpstreamEvent } from "@sluice/contract";
import { asBuffer } from "../json/as-buffer.ts";
import { type ArrivedText, viewOf } from "./constant-text.ts";
import { createEventReader } from "./events.ts";
import type { FrameRun } from "./frame-run.ts";

/** Receives the events of a reader that knows forms. */
export interface FormedEvents {
  /** Whether events of the stream have a form at present. */
  readonly hasForm: boolean;
  /**
   * An event that has no known form. `wire`: its text, unless it came in pieces. `isAscii`: the
   * stream has been ASCII so far.
   */
  event(event: UpstreamEvent, wire: string | undefined, isAscii: boolean): void;
  /** The run at an offset; `undefined` when the event there has no known form. */
  read(arrived: ArrivedText, at: number): FrameRun | undefined;
  run(run: FrameRun): void;
}

const NON_ASCII = 0x80;
const CARRIAGE_RETURN = 0x0d;
/** A longer beginning of an event goes to the parser before its end has arrived. */
const MAX_BEGUN_CHARACTERS = 4_096;
/** The end of an event, whatever the ends of its lines. */
const BLANK_LINE = /\n[\r\n]|\r\r/;

/**
 * A reader for one stream. It looks for forms where an event begins and ends in one chunk; all else
 * goes to the parser.
 */
export class FormedEventReader implements EventReader {
  readonly #to: FormedEvents;
  readonly #parser;
  // One decoder for the stream: a character may be split over two chunks.
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  /** A chunk was read without the decoder. A byte order mark behind it is text. */
  #isBegun = false;
  /** The decoder may hold the beginning of a character. */
  #isDecoding = false;
  /** The parser is between two events. */
  #isBetween = true;
  /** The last characters that the parser got of an event that has not ended. */
  #before = "";
  /** The beginning of an event that may have the form. The parser has not got it. */
  #begun = "";
  #emptyLine = "\n\n";
  #hasSeenLine = false;
  #wire: string | undefined;

  constructor(to: FormedEvents) {
    this.#to = to;
    this.#parser = createEventReader((event) =>
      to.event(event, this.#wire, this.#decoder === undefined),
    );
  }

  push(chunk: Uint8Array): void {
    const last = chunk.at(-1);
    if (last === undefined) return;
    if (!this.#isDecoding && isAscii(chunk)) {
      this.#isBegun = true;
      this.#readAscii(asBuffer(chunk));
      return;
    }
    this.#isDecoding = last >= NON_ASCII;
    this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: this.#isBegun });
    this.#read({ text: this.#begun + this.#decoder.decode(chunk, { stream: true }) });
  }

  end(): void {
    this.#wire = undefined;
    if (this.#begun !== "") this.#parser.pushText(this.#begun);
    this.#parser.end();
  }

  #readAscii(chunk: Buffer): void {
    const text = this.#begun + chunk.toString("latin1");
    // What has begun before it may be beyond ASCII once the stream has been.
    const isWhole = this.#begun === "";
    if (!isWhole && this.#decoder !== undefined) this.#read({ text });
    else this.#read({ text, bytes: viewOf(isWhole ? chunk : Buffer.from(text, "latin1")) });
  }

  /** Reads what has arrived, with what has begun before it. */
  #read(arrived: ArrivedText): void {
    const { text } = arrived;
    this.#begun = "";
    if (!this.#hasSeenLine) this.#look(text);
    for (let at = this.#isBetween ? 0 : this.#finish(text); at < text.length;) {
      const run = this.#to.read(arrived, at);
      if (run !== undefined) {
        this.#to.run(run);
        at = run.end;
        continue;
      }
      const found = text.indexOf(this.#emptyLine, at);
      if (found < 0) {
        const part = text.slice(at);
        if (this.#mayWait(part)) this.#begun = part;
        else this.#begin(part);
        return;
      }
      const end = found + this.#emptyLine.length;
      this.#parse(text.slice(at, end));
      at = end;
    }
  }

  /** Parses one event that came whole. */
  #parse(wire: string): void {
    this.#wire = wire;
    this.#parser.pushText(wire);
    this.#wire = undefined;
  }

  /** Whether the rest of an event may be awaited, so that it is read with the events around it. */
  #mayWait(part: string): boolean {
    return this.#to.hasForm && part.length <= MAX_BEGUN_CHARACTERS && !BLANK_LINE.test(part);
  }

  /** Parses a part of an event. */
  #begin(part: string): void {
    this.#isBetween = false;
    this.#before = (this.#before + part).slice(1 - this.#emptyLine.length);
    this.#parser.pushText(part);
  }

  /** Parses the rest of an event that came in pieces. Returns the offset behind it. */
  #finish(text: string): number {
    const { length } = this.#before;
    const found = (this.#before + text).indexOf(this.#emptyLine);
    const end = found < 0 ? text.length : found + this.#emptyLine.length - length;
    if (found < 0) this.#begin(text);
    else {
      this.#parser.pushText(text.slice(0, end));
      this.#isBetween = true;
      this.#before = "";
    }
    return end;
  }

  /**
   * Learns from the first line how lines end. Streams with other ends are parsed event by event.
   */
  #look(text: string): void {
    const at = text.indexOf("\n");
    if (at < 0) return;
    this.#hasSeenLine = true;
    if (text.charCodeAt(at - 1) === CARRIAGE_RETURN) this.#emptyLine = "\r\n\r\n";
  }
}
