/**
 * The JSON events of a native reply in any framing: server-sent events, the provider's own frames,
 * lines or a list of objects, one object. The first bytes decide about the framing, not the content
 * type, which a proxy may have changed.
 */

import type { StreamFraming } from "@sluice/contract";
import { JsonValues } from "./json-values.ts";

/** Takes the bytes of a reply. */
export interface ReplyEvents {
  push(chunk: Uint8Array): void;
  /** Ends the input. */
  end(): void;
  /** Whether the framing is known; `undefined` before that is decided. */
  readonly isRead: boolean | undefined;
  /** Bytes of skipped texts, see `JsonValues`. */
  readonly cutBytes: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** The number of bytes that identify a text framing. */
const TEXT_HEAD_BYTES = 16;
const SSE_START = /^(?:data|event|id|retry)?:|^(?:data|event|id|retry)\r?$/;
const DATA = [..."data:"].map((letter) => letter.charCodeAt(0));

/** A reader that passes on each event's text. */
export function createReplyEvents(
  contentType: string | undefined,
  own: StreamFraming | undefined,
  onEvent: (text: string) => void,
): ReplyEvents {
  const values = new JsonValues(onEvent);
  const isStreamType = contentType?.toLowerCase().startsWith("text/event-stream") === true;
  let head = Buffer.alloc(0);
  let push: ((chunk: Uint8Array) => void) | undefined;
  let isRead: boolean | undefined;
  const choose = (isWhole: boolean): void => {
    const detected = framingOf(head, own, isWhole);
    if (detected === undefined) return;
    // The type decides where the bytes do not: an event may begin with unknown fields.
    const framing = detected === "unknown" && isStreamType ? "lines" : detected;
    isRead = framing !== "unknown";
    push = framing === "unknown" ? () => {} : readerOf(framing, values, onEvent);
    push(head);
    head = Buffer.alloc(0);
  };
  return {
    push(chunk) {
      if (push !== undefined) {
        push(chunk);
        return;
      }
      head = Buffer.concat([head, chunk]);
      choose(false);
    },
    end() {
      if (push === undefined && head.length > 0) choose(true);
    },
    get isRead() {
      return isRead;
    },
    get cutBytes() {
      return values.cutBytes;
    },
  };
}

type Framing = "json" | "lines" | "unknown" | StreamFraming;

function framingOf(
  head: Buffer,
  own: StreamFraming | undefined,
  isWhole: boolean,
): Framing | undefined {
  const isOwn = own === undefined ? false : own.begins(head);
  if (isOwn === true) return own;
  if (isOwn === undefined && !isWhole) return undefined;
  const text = head
    .toString("latin1", 0, head.length)
    .replace(/^\u00ef\u00bb\u00bf/, "")
    .trimStart();
  if (text === "" && !isWhole && head.length < 64 * 1_024) return undefined;
  if (text.startsWith("{") || text.startsWith("[")) return "json";
  if (SSE_START.test(text)) return "lines";
  return text.length < TEXT_HEAD_BYTES && !isWhole ? undefined : "unknown";
}

function readerOf(
  framing: Exclude<Framing, "unknown">,
  values: JsonValues,
  onEvent: (text: string) => void,
) {
  switch (framing) {
    case "json":
      return (chunk: Uint8Array): void => values.push(chunk);
    case "lines":
      return eventLines(values);
    default:
      return ownFrames(framing, onEvent);
  }
}

/**
 * Frames of the provider. After a damaged or too large one, the bytes are still relayed, and the
 * events so far count.
 */
function ownFrames(
  framing: StreamFraming,
  onEvent: (text: string) => void,
): (chunk: Uint8Array) => void {
  let isWhole = true;
  const reader = framing.createReader(({ data }) => onEvent(data));
  return (chunk) => {
    if (!isWhole) return;
    try {
      reader.push(chunk);
    } catch {
      isWhole = false;
    }
  };
}

/** Server-sent events: the text after `data:` in their lines. An empty line ends an event. */
function eventLines(values: JsonValues): (chunk: Uint8Array) => void {
  /** The number of matched letters of `data:`; -1 for any other line. */
  let matched = 0;
  let isEmpty = true;
  return (chunk) => {
    let from = 0;
    while (from < chunk.length) {
      if (matched === DATA.length) {
        const end = chunk.indexOf(LINE_FEED, from);
        values.push(chunk.subarray(from, end < 0 ? chunk.length : end));
        if (end < 0) return;
        from = end;
      }
      const byte = chunk[from++] as number;
      if (byte === LINE_FEED) {
        if (isEmpty) values.reset();
        matched = 0;
        isEmpty = true;
      } else if (byte !== CARRIAGE_RETURN) {
        isEmpty = false;
        matched = matched >= 0 && byte === DATA[matched] ? matched + 1 : -1;
      }
    }
  };
}
