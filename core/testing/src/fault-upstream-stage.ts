/**
 * What a fault is played with: one request on one raw connection, and the pieces of good answers.
 */

import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** One request of the truth ledger. */
export interface FaultRecord {
  readonly number: number;
  readonly mode: string;
  readonly stream: boolean;
  /** The connection it came on, numbered from 1. */
  readonly connection: number;
  readonly receivedAtMs: number;
  /**
   * The `user` of the request's body: the mark by which a spend row finds its record. Empty without
   * one.
   */
  readonly user: string;
  /** Whether the connection had served another request before. */
  readonly isReused: boolean;
  /** Bytes that were written as an answer. */
  answeredBytes: number;
  /** Whether the answer reported its usage, which is `USAGE`. */
  reportedUsage: boolean;
  /** Completion tokens that were generated, and so billed, whether or not they arrived. */
  billedTokens: number;
  /** When the gateway ended the connection, `undefined` while it has not. */
  closedByPeerAtMs: number | undefined;
  /** When this side did. */
  closedHereAtMs: number | undefined;
}

const ID = { id: "chatcmpl-fault", created: 1_700_000_000, model: "fault" };

/** Completion tokens of a good answer. */
export const GOOD_TOKENS = 4;
/** The usage of a good answer. */
export const USAGE = {
  prompt_tokens: 5,
  completion_tokens: GOOD_TOKENS,
  total_tokens: 5 + GOOD_TOKENS,
};
const USAGE_MARK = `"total_tokens":${USAGE.total_tokens}`;
/** The text of a good answer. */
export const GOOD_TEXT = "The quick brown fox";

/** A good answer in one piece. */
export function goodBody(text = GOOD_TEXT, model = ID.model): string {
  const message = { role: "assistant", content: text };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  return JSON.stringify({ ...ID, model, object: "chat.completion", choices, usage: USAGE });
}

/** One event of a stream. */
export function event(data: object | string): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** A chunk with this delta. */
export function delta(content: object, finish: string | null = null): string {
  return event({
    ...ID,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: content, finish_reason: finish }],
  });
}

export const ROLE = delta({ role: "assistant", content: "" });
export const WORDS: readonly string[] = (GOOD_TEXT.match(/\s*\S+/g) ?? []).map((content) =>
  delta({ content }),
);
export const STOP = delta({}, "stop");
export const USAGE_CHUNK = event({
  ...ID,
  object: "chat.completion.chunk",
  choices: [],
  usage: USAGE,
});
export const DONE = "data: [DONE]\n\n";
/** A good answer as a stream. */
export const GOOD_STREAM = `${ROLE}${WORDS.join("")}${STOP}${USAGE_CHUNK}${DONE}`;

/** The body of an error reply. */
export function errorBody(type: string, code: string | null = null): string {
  return JSON.stringify({ error: { message: "The upstream says no.", type, param: null, code } });
}

/**
 * One request on its connection. Every write after the connection's end is lost, as it would be.
 */
export class Stage {
  readonly record: FaultRecord;
  readonly #socket: Socket;
  /** The end of what was written: a usage may be written byte by byte. */
  #tail = "";

  constructor(socket: Socket, record: FaultRecord) {
    this.#socket = socket;
    this.record = record;
  }

  get isStream(): boolean {
    return this.record.stream;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  write(bytes: string | Uint8Array): void {
    if (!this.isOpen) return;
    this.#socket.write(bytes);
    this.record.answeredBytes += bytes.length;
    if (this.record.reportedUsage) return;
    const text =
      this.#tail + (typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("latin1"));
    this.record.reportedUsage = text.includes(USAGE_MARK);
    this.#tail = text.slice(-USAGE_MARK.length);
  }

  /** A head with these header lines, and nothing else. */
  head(status: number, ...lines: readonly string[]): void {
    this.write(`HTTP/1.1 ${status} Said\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`);
  }

  /** A framed answer. */
  reply(status: number, body: string | Uint8Array, ...lines: readonly string[]): void {
    const type = lines.some((line) => line.startsWith("content-type"))
      ? []
      : ["content-type: application/json"];
    this.head(status, ...type, `content-length: ${Buffer.byteLength(body)}`, ...lines);
    this.write(body);
  }

  /** The head of a stream in chunks. */
  openStream(...lines: readonly string[]): void {
    this.head(200, "content-type: text/event-stream", "transfer-encoding: chunked", ...lines);
  }

  /** One chunk of the chunked coding. */
  chunk(bytes: string | Uint8Array): void {
    this.write(`${Buffer.byteLength(bytes).toString(16)}\r\n`);
    this.write(bytes);
    this.write("\r\n");
  }

  /** The end of the chunked coding, and of the connection unless it is to be kept. */
  closeStream(trailers = ""): void {
    this.write(`0\r\n${trailers}\r\n`);
  }

  /** A good answer of either kind. */
  good(text: string = this.isStream ? GOOD_STREAM : goodBody()): void {
    this.bill(GOOD_TOKENS);
    if (!this.isStream) return this.reply(200, text);
    this.openStream();
    this.chunk(text);
    this.closeStream();
  }

  /**
   * The beginning of a good answer: for a stream a role and two words, else a head that promises
   * more than the half body.
   */
  begin(): void {
    this.bill(2);
    if (!this.isStream) {
      const body = goodBody();
      this.head(200, "content-type: application/json", `content-length: ${body.length}`);
      return this.write(body.slice(0, body.length / 2));
    }
    this.openStream();
    this.chunk(`${ROLE}${WORDS.slice(0, 2).join("")}`);
  }

  bill(tokens: number): void {
    this.record.billedTokens = tokens;
  }

  /** FIN. */
  end(): void {
    this.record.closedHereAtMs = Date.now();
    this.#socket.end();
  }

  /** RST. */
  reset(): void {
    this.record.closedHereAtMs = Date.now();
    this.#socket.resetAndDestroy();
  }

  /** Does something at intervals until the connection ends, and waits for a slow reader. */
  async repeat(everyMs: number, act: () => void): Promise<void> {
    while (this.isOpen) {
      if (this.#socket.writableLength < 4 * 1024 * 1024) act();
      await pause(everyMs);
    }
  }

  /** Waits. */
  pause(ms: number): Promise<void> {
    return pause(ms);
  }
}
