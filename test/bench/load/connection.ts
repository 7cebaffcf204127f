/**
 * One keep-alive connection of the load: raw TCP, one request in flight, no allocation for a
 * reply's bytes.
 */

import { connect } from "node:net";

const BUFFER_BYTES = 64 * 1024;
const HEADERS_END = Buffer.from("\r\n\r\n");
const BODY_END = Buffer.from("\r\n0\r\n\r\n");
const OK = Buffer.from("HTTP/1.1 200");

/** A connection that sends request after request. */
export interface Connection {
  /**
   * Sends a request and calls back when the reply is complete. `ok` is false for any status but
   * 200.
   */
  exchange(done: (ok: boolean) => void): void;
  /** Keeps the bytes of the next reply. */
  record(): void;
  /** The reply that was kept, with its headers and its chunk marks. */
  readonly recorded: string;
  /** Reads from the socket so far: fewer than events sent when the network joined them. */
  readonly reads: number;
  close(): void;
}

/**
 * Opens a connection to 127.0.0.1 for what `request` gives. Rejects when the connection is refused;
 * `lost` is called when it breaks later.
 */
export function openConnection(
  port: number,
  request: () => Buffer,
  lost: (error: Error) => void,
): Promise<Connection> {
  const reader = new ReplyReader();
  let done: ((ok: boolean) => void) | undefined;
  let kept: Buffer[] | undefined;
  let reads = 0;
  const read = (size: number, bytes: Uint8Array): boolean => {
    const part = (bytes as Buffer).subarray(0, size);
    reads += 1;
    kept?.push(Buffer.from(part));
    if (reader.read(part)) {
      const settle = done;
      done = undefined;
      settle?.(reader.ok);
    }
    return true;
  };
  return new Promise((resolve, reject) => {
    const socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(BUFFER_BYTES), callback: read },
    });
    socket.once("error", (error) => {
      reject(error);
      lost(error);
    });
    socket.once("close", () => {
      if (done !== undefined)
        lost(new Error("The target closed the connection before its reply was complete."));
    });
    socket.once("connect", () =>
      resolve({
        exchange(callback) {
          done = callback;
          socket.write(request());
        },
        record: () => (kept = []),
        get recorded() {
          const text = Buffer.concat(kept ?? []).toString();
          kept = undefined;
          return text;
        },
        get reads() {
          return reads;
        },
        close: () => socket.destroy(),
      }),
    );
  });
}

/** Finds the end of a reply: by its length, or by the last chunk. */
class ReplyReader {
  ok = false;
  #remaining = -1;
  #isChunked = false;
  #head: Buffer | undefined;
  #tail = Buffer.alloc(0);

  /** Takes bytes of the reply; true when it is complete. */
  read(part: Buffer): boolean {
    let body = part;
    if (this.#remaining < 0 && !this.#isChunked) {
      const bytes = this.#head === undefined ? part : Buffer.concat([this.#head, part]);
      const end = bytes.indexOf(HEADERS_END);
      if (end < 0) {
        this.#head = Buffer.from(bytes);
        return false;
      }
      this.#begin(bytes, end);
      // The two line ends before the body may be the ones the last chunk's mark begins with: an
      // empty chunked body.
      body = bytes.subarray(this.#isChunked ? end + 2 : end + HEADERS_END.length);
    }
    return this.#isChunked ? this.#readChunked(body) : this.#readCounted(body);
  }

  #begin(bytes: Buffer, end: number): void {
    const head = bytes.toString("latin1", 0, end);
    this.#head = undefined;
    this.ok = bytes.subarray(0, OK.length).equals(OK);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#isChunked = length === undefined;
    this.#remaining = Number(length ?? 0);
  }

  #readCounted(body: Buffer): boolean {
    this.#remaining -= body.length;
    if (this.#remaining > 0) return false;
    this.#remaining = -1;
    return true;
  }

  #readChunked(body: Buffer): boolean {
    const last = body.length >= BODY_END.length ? body : Buffer.concat([this.#tail, body]);
    if (last.subarray(-BODY_END.length).equals(BODY_END)) {
      this.#isChunked = false;
      this.#remaining = -1;
      this.#tail = Buffer.alloc(0);
      return true;
    }
    this.#tail = Buffer.from(last.subarray(-BODY_END.length));
    return false;
  }
}
