/**
 * The JSON events of a native reply, whatever its framing: server-sent events, binary event streams, lines or a list of objects, one
 * object. The framing is told by the first bytes, not by the content type, which a proxy on the way may have changed.
 */

import { crc32 } from "node:zlib";
import { createFrameReader } from "../stream/event-frames.ts";
import { JsonValues } from "./json-values.ts";

/** Takes the bytes of a reply. */
export interface ReplyEvents {
  push(chunk: Uint8Array): void;
  /** Nothing more comes. */
  end(): void;
  /** Whether the bytes are of a framing that is known; `undefined` before that can be told. */
  readonly isRead: boolean | undefined;
  /** Bytes of texts that were passed over, see `JsonValues`. */
  readonly cutBytes: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Length and CRC of a binary frame's prelude. */
const PRELUDE_BYTES = 12;
const PRELUDE_CRC_AT = 8;
/** So many bytes tell the framing of what is text. */
const TEXT_HEAD_BYTES = 16;
const SSE_START = /^(?:data|event|id|retry)?:|^(?:data|event|id|retry)\r?$/;
const DATA = [..."data:"].map((letter) => letter.charCodeAt(0));

/** A reader that hands on each event's text. */
export function createReplyEvents(contentType: string | undefined, onEvent: (text: string) => void): ReplyEvents {
  const values = new JsonValues(onEvent);
  const isStreamType = contentType?.toLowerCase().startsWith("text/event-stream") === true;
  let head = Buffer.alloc(0);
  let push: ((chunk: Uint8Array) => void) | undefined = isStreamType ? eventLines(values) : undefined;
  let isRead: boolean | undefined = isStreamType ? true : undefined;
  const choose = (isWhole: boolean): void => {
    const framing = framingOf(head, isWhole);
    if (framing === undefined) return;
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

type Framing = "json" | "lines" | "frames" | "unknown";

function framingOf(head: Buffer, isWhole: boolean): Framing | undefined {
  if (head.length >= PRELUDE_BYTES && crc32(head.subarray(0, PRELUDE_CRC_AT)) === head.readUInt32BE(PRELUDE_CRC_AT))
    return "frames";
  // A binary frame begins with the high byte of a length.
  if (head[0] === 0 && head.length < PRELUDE_BYTES && !isWhole) return undefined;
  const text = head
    .toString("latin1", 0, head.length)
    .replace(/^\u00ef\u00bb\u00bf/, "")
    .trimStart();
  if (text === "" && !isWhole && head.length < 64 * 1_024) return undefined;
  if (text.startsWith("{") || text.startsWith("[")) return "json";
  if (SSE_START.test(text)) return "lines";
  return text.length < TEXT_HEAD_BYTES && !isWhole ? undefined : "unknown";
}

function readerOf(framing: Exclude<Framing, "unknown">, values: JsonValues, onEvent: (text: string) => void) {
  switch (framing) {
    case "json":
      return (chunk: Uint8Array): void => values.push(chunk);
    case "lines":
      return eventLines(values);
    case "frames": {
      let isWhole = true;
      const reader = createFrameReader(({ data }) => onEvent(data));
      return (chunk: Uint8Array): void => {
        if (!isWhole) return;
        try {
          reader.push(chunk);
        } catch {
          // A frame that is damaged or over the bound: the bytes still go by, and what was read so far counts.
          isWhole = false;
        }
      };
    }
  }
}

/** Server-sent events: what stands behind `data:` of their lines. An empty line ends an event. */
function eventLines(values: JsonValues): (chunk: Uint8Array) => void {
  /** Letters of `data:` that the line has so far; -1 for a line that is something else. */
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
