/** Wire fixtures: recorded shapes as files, `.json` for whole bodies and `.sse` for streams. */

import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import type { BytesAction, WireUsage } from "./script.ts";

const STATUS_IN_NAME = /^error-(\d{3})/;

/**
 * Makes an action of a fixture file. `.sse` is an event stream, everything else JSON;
 * `error-429….json` is sent with status 429. The usage it bills is the last one it holds.
 */
export function wireFixture(file: string): BytesAction {
  const body = readFileSync(file, "utf8");
  const name = basename(file);
  const isStream = extname(name) === ".sse";
  const usage = lastUsage(
    isStream ? body.split("\n").map((line) => line.replace(/^data: ?/, "")) : [body],
  );
  return {
    kind: "bytes",
    status: Number(STATUS_IN_NAME.exec(name)?.[1] ?? 200),
    contentType: isStream ? "text/event-stream; charset=utf-8" : "application/json",
    body,
    ...(usage && { usage }),
  };
}

function lastUsage(texts: readonly string[]): WireUsage | undefined {
  const holder = texts.findLast((text) => text.includes('"prompt_tokens"'));
  return holder === undefined
    ? undefined
    : (JSON.parse(holder) as { readonly usage: WireUsage }).usage;
}
