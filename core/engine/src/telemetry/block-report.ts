/**
 * Blocks of the event loop: what the thread that watches tells of one, and whose code a frame of
 * the stack is.
 */

import type { LogOrigin } from "./log.ts";

/** The owner of code: a plugin, or the gateway itself. */
export interface CodeOwner {
  readonly name: string;
  /** URL of a module, or of a folder with a slash at its end. */
  readonly url: string;
}

/** A function that was running. */
export interface BlockFrame {
  readonly function: string;
  readonly url: string;
  readonly line: number;
}

/** One time in which the event loop did not come round. */
export interface BlockReport {
  readonly blockedMs: number;
  /** Whose code was running: a plugin, `gateway`, or `unknown`. */
  readonly plugin: string;
  /**
   * The innermost function of that owner, and where: `run (file:///srv/plugins/mine.ts:44)`;
   * `undefined` when it was not seen.
   */
  readonly at: string | undefined;
  /** The innermost functions of any owner. */
  readonly stack: readonly string[];
}

/** What the watching thread begins with. */
export interface BlockWatchData {
  /**
   * The beats of the loop, and the longest time between two since the thread last looked, in
   * milliseconds.
   */
  readonly beats: Int32Array<SharedArrayBuffer>;
  readonly thresholdMs: number;
  readonly beatMs: number;
  readonly owners: readonly CodeOwner[];
  /** Milliseconds after which a running block is reported: the event loop may never continue. */
  readonly endlessMs: number;
  /** What the log of the main thread was made with. */
  readonly logOrigin: LogOrigin;
  /**
   * Where a supervising process reads blocked event loops, a line of JSON each; absent in a single
   * process.
   */
  readonly reportFd?: number | undefined;
}

/** Where the beats are in the shared memory. */
export const BEAT = { count: 0, gapMs: 1 } as const;

/** The name of the gateway's own code among the owners. */
export const GATEWAY_CODE = "gateway";
const UNKNOWN = "unknown";
/** Maximum frames of a reported stack. */
const MAX_FRAMES = 8;

/**
 * A report of a stack, innermost function first. A plugin that called the gateway's own code is the
 * one that blocks.
 */
export function reportOf(
  blockedMs: number,
  frames: readonly BlockFrame[],
  owners: readonly CodeOwner[],
): BlockReport {
  const owned = frames.map((frame) => ({ frame, owner: ownerOf(frame.url, owners) }));
  const found =
    owned.find(({ owner }) => owner !== undefined && owner !== GATEWAY_CODE) ??
    owned.find(({ frame }) => !frame.url.startsWith("node:"));
  return {
    blockedMs,
    plugin: found?.owner ?? UNKNOWN,
    at: found === undefined ? undefined : text(found.frame),
    stack: frames.slice(0, MAX_FRAMES).map(text),
  };
}

/** The narrowest owner of a module. */
function ownerOf(url: string, owners: readonly CodeOwner[]): string | undefined {
  let best: CodeOwner | undefined;
  for (const owner of owners) {
    const isOwn = owner.url.endsWith("/") ? url.startsWith(owner.url) : url === owner.url;
    if (isOwn && owner.url.length > (best?.url.length ?? 0)) best = owner;
  }
  return best?.name;
}

function text({ function: name, url, line }: BlockFrame): string {
  return `${name === "" ? "(anonymous)" : name} (${url}:${line})`;
}
