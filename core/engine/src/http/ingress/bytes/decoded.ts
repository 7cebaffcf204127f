/** Content codings of request bodies: gzip and deflate (RFC 9110 8.4.1). */

import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable, type Transform } from "node:stream";
import { createGunzip, createInflate, createInflateRaw } from "node:zlib";

/** A coding that the gateway reads. */
export type Coding = "gzip" | "deflate";

/**
 * The coding of a request; `undefined` for none. Throws nothing: any other name is returned as
 * `unknown`.
 */
export function codingOf({ headers }: IncomingMessage): Coding | "unknown" | undefined {
  const coding = headers["content-encoding"]?.trim().toLowerCase();
  if (coding === undefined || coding === "" || coding === "identity") return undefined;
  if (coding === "gzip" || coding === "x-gzip") return "gzip";
  return coding === "deflate" ? "deflate" : "unknown";
}

/**
 * The bytes of a body without its coding. `deflate` is zlib's format; some clients send the raw
 * one, which the first byte shows. The `error` event reports a damaged or incomplete body.
 */
export function decoded(request: IncomingMessage, coding: Coding): Readable {
  if (coding === "gzip") return request.pipe(createGunzip());
  const output = new PassThrough();
  let inflate: Transform | undefined;
  request.on("data", (chunk: Buffer) => {
    if (inflate === undefined) {
      const isZlib = ((chunk[0] ?? 0) & 0x0f) === 8;
      inflate = isZlib ? createInflate() : createInflateRaw();
      inflate.on("error", (error) => output.destroy(error));
      inflate.pipe(output);
      output.once("close", () => inflate?.destroy());
      inflate.on("drain", () => request.resume());
    }
    if (!inflate.write(chunk)) request.pause();
  });
  request.once("end", () => (inflate === undefined ? output.end() : inflate.end()));
  return output;
}
