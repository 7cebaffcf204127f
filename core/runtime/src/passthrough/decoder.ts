/**
 * Decodes the bytes of a compressed reply (`content-encoding`) on the side, to meter them. The
 * client gets the original bytes.
 */

import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";

/** Takes the compressed bytes and passes on the decoded ones. */
export interface ReplyDecoder {
  push(chunk: Uint8Array): void;
  /** Resolves when all input is decoded, at most after {@link MAX_WAIT_MS}. Never rejects. */
  end(): Promise<void>;
}

/** Maximum metered decoded bytes: a small reply may decompress to a very large one. */
const MAX_DECODED_BYTES = 128 * 1024 * 1024;
/** Maximum compressed bytes that wait for the decoder. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
const MAX_WAIT_MS = 1_000;

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush: ZSTD_FLUSH } = constants;

/** Decoders by the name of the coding (RFC 9110 8.4.1). A cut reply is decoded up to the cut. */
const DECODERS = new Map([
  ["gzip", () => createGunzip({ finishFlush: Z_SYNC_FLUSH })],
  ["x-gzip", () => createGunzip({ finishFlush: Z_SYNC_FLUSH })],
  ["deflate", () => createInflate({ finishFlush: Z_SYNC_FLUSH })],
  ["br", () => createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH })],
  ["zstd", () => createZstdDecompress({ finishFlush: ZSTD_FLUSH })],
]);

/** A decoder for a coding; `undefined` for an unknown one, or for several. */
export function createReplyDecoder(
  coding: string,
  onChunk: (chunk: Uint8Array) => void,
): ReplyDecoder | undefined {
  const stream = DECODERS.get(coding.trim().toLowerCase())?.();
  if (stream === undefined) return undefined;
  let decoded = 0;
  let isOver = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = (): void => {
    isOver = true;
    stream.destroy();
    resolve();
  };
  stream.on("data", (chunk: Uint8Array) => {
    decoded += chunk.length;
    if (decoded > MAX_DECODED_BYTES) stop();
    else onChunk(chunk);
  });
  stream.on("end", resolve);
  stream.on("close", resolve);
  stream.on("error", stop);
  return {
    push(chunk) {
      if (isOver) return;
      if (stream.writableLength > MAX_WAITING_BYTES) stop();
      else stream.write(chunk);
    },
    end() {
      if (isOver) return promise;
      stream.end();
      const timer = setTimeout(stop, MAX_WAIT_MS);
      return promise.finally(() => {
        clearTimeout(timer);
        stream.destroy();
      });
    },
  };
}
