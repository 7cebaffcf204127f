/**
 * The form of a stream's events: an upstream repeats everything but a few texts. An event of the
 * form of an earlier one is neither parsed nor translated: its texts are put into the earlier one's
 * frame.
 */

import type { EventForm, JsonValue } from "@sluice/contract";
import { jsonIn } from "../json/parse.ts";
import { skipSpace } from "../json/scan.ts";
import { type ArrivedText, ConstantText } from "./constant-text.ts";
import { FrameRun, type FrameShape } from "./frame-run.ts";

/** An event that was translated into one frame. */
export interface LearntEvent {
  /** The event as it came, with its empty line. */
  readonly wire: string;
  /** The data of the event. */
  readonly data: string;
  /** The text of the frame. */
  readonly raw: string;
  /** The values that the frame depends on. */
  readonly form: EventForm;
}

/** A place in an event whose text differs from event to event. */
interface Hole {
  readonly from: number;
  readonly to: number;
  readonly path: EventForm["texts"][number];
  readonly isNumber: boolean;
  readonly isShown: boolean;
}

/** A hole with the text behind it, in the events and in their written frames. */
interface WireHole {
  readonly isNumber: boolean;
  /** The text up to the next hole. That of the last one is in the next event. */
  readonly behind: ConstantText;
  /** The last hole: the text up to the end of the event. */
  readonly tail: ConstantText | undefined;
  /** The text up to the next one that the frame shows; `undefined` where it does not show this. */
  readonly written: string | undefined;
}

/**
 * What is kept of events while they are read. `frames`: their texts, and the frames as they are
 * written. `texts`: their texts. `count`: nothing, they are read again for a step that asks.
 */
export type Kept = "frames" | "texts" | "count";

/** A run while it is read. */
interface OpenRun {
  /** The texts that the frames show. */
  readonly pieces: string[];
  /** Their characters. */
  characters: number;
  /** The frames, without the end of the last one. */
  written: string;
  /** Whether the head of another event follows. */
  hasNext: boolean;
  /** Whether the texts are ASCII without escapes. */
  isPlain: boolean;
}

/** The text before and after the data of an event. Other fields would differ, or are comments. */
const BEFORE_DATA = /^(?:event:[^\r\n]*\r?\n)?data: ?$/;
const BEHIND_DATA = /^(?:\r?\n){2}$/;
/** No JSON string has these characters unescaped. */
// oxlint-disable-next-line no-control-regex -- these are the ones.
const CONTROL = /[\u0000-\u001f]/;
const JSON_INSIDE = /^(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;
const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;
const DELETE = 0x7f;

/** The form of one stream's events, learnt from one of them. */
export class StreamForm {
  readonly #head: ConstantText;
  readonly #holes: readonly WireHole[];
  readonly #shape: FrameShape;
  readonly #writtenHead: string;
  readonly #writtenTail: string;
  /** From the last shown text of a frame to the first one of the next. */
  readonly #writtenGlue: string;
  readonly #dataAt: number;
  readonly #endLength: number;
  /** Whether the frames are ASCII but for their texts, and whether the events are. */
  readonly #isAscii: boolean;
  readonly #isWireAscii: boolean;

  private constructor(
    wire: string,
    dataAt: number,
    endLength: number,
    holes: readonly Hole[],
    shape: FrameShape,
  ) {
    this.#shape = shape;
    this.#dataAt = dataAt;
    this.#endLength = endLength;
    const head = wire.slice(0, dataAt + (holes[0]?.from ?? 0));
    this.#head = new ConstantText(head);
    this.#writtenHead = `data: ${shape.head}`;
    this.#writtenTail = `${shape.behind.at(-1)}\n\n`;
    this.#writtenGlue = this.#writtenTail + this.#writtenHead;
    const between = [...shape.behind.slice(0, -1), ""];
    this.#holes = holes.map(({ to, isNumber, isShown }, index): WireHole => {
      const next = holes[index + 1];
      const behind = wire.slice(dataAt + to, next === undefined ? undefined : dataAt + next.from);
      const isLast = next === undefined;
      return {
        isNumber,
        behind: new ConstantText(isLast ? behind + head : behind),
        tail: isLast ? new ConstantText(behind) : undefined,
        written: isShown ? between.shift() : undefined,
      };
    });
    this.#isAscii = isAscii(shape.head + shape.behind.join(""));
    this.#isWireAscii = this.#head.isAscii && this.#holes.every(({ behind }) => behind.isAscii);
  }

  /** The form of an event; `undefined` when the places of its texts are not certain. */
  static of({ wire, data, raw, form }: LearntEvent): StreamForm | undefined {
    const dataAt = wire.lastIndexOf(data);
    const end = wire.slice(dataAt + data.length);
    if (dataAt < 0 || raw.includes("\n")) return undefined;
    if (wire !== data && !(BEFORE_DATA.test(wire.slice(0, dataAt)) && BEHIND_DATA.test(end)))
      return undefined;
    const value = jsonIn(data);
    const texts = form.texts.map((path) => textHole(data, value, path, true));
    const others = (form.others ?? []).map(
      (path) => numberHole(data, value, path) ?? textHole(data, value, path, false),
    );
    const holes = [...texts, ...others]
      .filter((hole) => hole !== undefined)
      .toSorted((a, b) => a.from - b.from);
    if (texts[0] === undefined || texts.includes(undefined) || !areHoles(data, holes))
      return undefined;
    const shown = holes.filter(({ isShown }) => isShown);
    const shape = shapeOf(raw, data, shown, shown.indexOf(texts[0]));
    return shape === undefined ? undefined : new StreamForm(wire, dataAt, end.length, holes, shape);
  }

  /**
   * The events of this form from an offset on; `undefined` when the first one has another form, or
   * is not whole. `kept`: other than `frames` for events that go on as they came.
   */
  read(arrived: ArrivedText, at: number, kept: Kept = "frames"): FrameRun | undefined {
    const head = this.#head;
    if (!head.isAt(arrived, at)) return undefined;
    const { text } = arrived;
    const run: OpenRun = { pieces: [], characters: 0, written: "", hasNext: true, isPlain: true };
    const { pieces } = run;
    let count = 0;
    let last = at;
    let end = at;
    while (run.hasNext) {
      const known = pieces.length;
      const behind = this.#event(arrived, end + head.length, run, kept);
      if (behind < 0) {
        pieces.length = known;
        break;
      }
      count++;
      last = end;
      end = behind;
    }
    if (count === 0) return undefined;
    const { isPlain, characters } = run;
    const common = {
      isAscii: isPlain && this.#isAscii,
      characters,
      count,
      end,
      lastData: text.slice(last + this.#dataAt, end - this.#endLength),
    };
    if (kept === "frames")
      return new FrameRun(this.#shape, {
        ...common,
        pieces,
        text: run.written + this.#writtenTail,
      });
    const wire = { text: text.slice(at, end), isAscii: isPlain && this.#isWireAscii };
    const all = kept === "texts" ? pieces : () => this.read(wire, 0)?.pieces ?? [];
    return new FrameRun(this.#shape, { ...common, pieces: all, wire });
  }

  /** Adds the event whose first hole is at an offset. Returns its end; -1 for another form. */
  #event(arrived: ArrivedText, firstHole: number, run: OpenRun, kept: Kept): number {
    const { text } = arrived;
    let written = "";
    if (kept === "frames")
      written = run.written === "" ? this.#writtenHead : run.written + this.#writtenGlue;
    let place = firstHole;
    const holes = this.#holes;
    for (let index = 0; index < holes.length; index++) {
      const { isNumber, behind, tail, written: between } = holes[index]!;
      const from = place;
      let close = isNumber ? numberEnd(text, from) : plainEnd(text, from);
      if (close < 0 && between !== undefined) {
        close = insideEnd(text, from);
        if (close > from) run.isPlain = false;
      }
      if (close <= from) return -1;
      place = close + behind.length;
      // One comparison for the end of an event and the head of the next one.
      if (!behind.isAt(arrived, close)) {
        if (tail?.isAt(arrived, close) !== true) return -1;
        place = close + tail.length;
        run.hasNext = false;
      }
      if (between === undefined) continue;
      run.characters += close - from;
      if (kept === "count") continue;
      const piece = text.slice(from, close);
      run.pieces.push(piece);
      if (kept === "frames") written += piece + between;
    }
    run.written = written;
    return run.hasNext ? place - this.#head.length : place;
  }
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** The end of the inside of a JSON string at an offset; -1 for what is not one. */
function insideEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end > 0 && text.charCodeAt(end - 1) === BACKSLASH && isEscaped(text, end, from))
    end = text.indexOf('"', end + 1);
  const inside = text.slice(from, Math.max(from, end));
  return CONTROL.test(inside) || (inside.includes("\\") && !JSON_INSIDE.test(inside)) ? -1 : end;
}

/**
 * The end of the inside of a JSON string at an offset; -1 for one with an escape, a control
 * character or one beyond ASCII.
 */
function plainEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code < SPACE || code >= DELETE || code === BACKSLASH) return -1;
  }
  return -1;
}

/** Whether an odd number of backslashes precedes an offset. */
function isEscaped(text: string, place: number, from: number): boolean {
  let at = place - 1;
  while (at >= from && text.charCodeAt(at) === BACKSLASH) at--;
  return (place - at) % 2 === 0;
}

function numberEnd(text: string, from: number): number {
  let end = from;
  while (isDigit(text.charCodeAt(end))) end++;
  // No JSON number begins with a further digit behind a zero.
  return end - from > 15 || (end - from > 1 && text.charCodeAt(from) === 0x30) ? -1 : end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function textHole(
  data: string,
  value: JsonValue | undefined,
  path: Hole["path"],
  isShown: boolean,
): Hole | undefined {
  const text = valueAt(value, path);
  if (typeof text !== "string" || text === "") return undefined;
  const json = JSON.stringify(text);
  const at = onlyPlace(data, json);
  return at === undefined
    ? undefined
    : { from: at + 1, to: at + json.length - 1, path, isNumber: false, isShown };
}

function numberHole(
  data: string,
  value: JsonValue | undefined,
  path: Hole["path"],
): Hole | undefined {
  const number = valueAt(value, path);
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 0) return undefined;
  const name = JSON.stringify(path.at(-1));
  const at = onlyPlace(data, name);
  if (at === undefined) return undefined;
  const colon = skipSpace(data, at + name.length);
  if (data.charCodeAt(colon) !== COLON) return undefined;
  const from = skipSpace(data, colon + 1);
  return data.startsWith(String(number), from)
    ? { from, to: from + String(number).length, path, isNumber: true, isShown: false }
    : undefined;
}

/** The offset of a text that occurs once in another one. */
function onlyPlace(text: string, part: string): number | undefined {
  const at = text.indexOf(part);
  return at < 0 || text.includes(part, at + 1) ? undefined : at;
}

/** Whether the holes of an event are where its paths lead: other values in them are found there. */
function areHoles(data: string, holes: readonly Hole[]): boolean {
  let probe = "";
  let at = 0;
  for (const [index, { from, to, isNumber }] of holes.entries()) {
    if (from < at) return false;
    probe += data.slice(at, from) + probeOf(index, isNumber);
    at = to;
  }
  const value = jsonIn(probe + data.slice(at));
  return holes.every(
    ({ path, isNumber }, index) => String(valueAt(value, path)) === probeOf(index, isNumber),
  );
}

function probeOf(index: number, isNumber: boolean): string {
  return isNumber ? String(987_654_321 + index) : `?probe ${index}?`;
}

/**
 * The text of a frame around its texts; `undefined` when one of them is not in its place once, in
 * the order of the event.
 */
function shapeOf(
  raw: string,
  data: string,
  holes: readonly Hole[],
  said: number,
): FrameShape | undefined {
  const parts: string[] = [];
  let at = 0;
  for (const { from, to } of holes) {
    const place = onlyPlace(raw, data.slice(from - 1, to + 1));
    if (place === undefined || place < at) return undefined;
    parts.push(raw.slice(at, place + 1));
    at = place + to - from + 1;
  }
  const [head = "", ...between] = parts;
  return { head, behind: [...between, raw.slice(at)], said };
}

function valueAt(value: JsonValue | undefined, path: Hole["path"]): JsonValue | undefined {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string | number, JsonValue>>)[key];
  }
  return found;
}
