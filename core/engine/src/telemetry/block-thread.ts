/**
 * The thread that listens to the beats of the event loop, and looks at the stack of the main thread
 * when none comes.
 */

import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import {
  BEAT,
  type BlockFrame,
  type BlockReport,
  type BlockWatchData,
  reportOf,
} from "./block-report.ts";
import { HeldTime } from "./main-thread.ts";

/** A stack that could not be read for so long after the block is that of something else. */
const GIVE_UP_MS = 100;

/** Reading a stack keeps this thread busy for less than that. */
const MAX_LOOK_MS = 1_000;

/** The count before the first heartbeat: the gateway serves no request yet. */
const NOT_BEGUN = 0;

const { beats, thresholdMs, beatMs, owners, endlessMs, logOrigin, reportFd } =
  workerData as BlockWatchData;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has an origin, a thread has none.
const send = (message: "ready" | BlockReport): void => parentPort?.postMessage(message);

/** The supervisor, where one reads `reportFd`. */
const parent = process.ppid;

let count = Atomics.load(beats, BEAT.count);
const held = new HeldTime();
let lastLookMs = performance.now();
let frames: readonly BlockFrame[] | undefined;
let isLooking = false;
// The first line comes at `endlessMs`, each further one at twice the time.
let toldMs = endlessMs / 2;

setInterval(() => {
  const nowMs = performance.now();
  const passedMs = nowMs - lastLookMs;
  // The whole process or the machine was suspended: no plugin is the cause.
  const wasStopped = passedMs > (isLooking ? MAX_LOOK_MS : beatMs + thresholdMs / 2);
  lastLookMs = nowMs;
  const newCount = Atomics.load(beats, BEAT.count);
  if (wasStopped || newCount === NOT_BEGUN) {
    Atomics.store(beats, BEAT.gapMs, 0);
    begin(newCount);
    return;
  }
  if (newCount !== count) {
    const blockedMs = Atomics.exchange(beats, BEAT.gapMs, 0) - beatMs;
    if (blockedMs >= thresholdMs && frames !== undefined) send(reportOf(blockedMs, frames, owners));
    begin(newCount);
    return;
  }
  held.pass(passedMs);
  // A blocked event loop does not notice that the supervisor is gone. Requests of this process
  // cannot end; its rows are in its outbox.
  if (reportFd !== undefined && held.ms >= endlessMs && process.ppid !== parent)
    process.kill(process.pid, "SIGKILL");
  if (held.ms >= thresholdMs - beatMs && !isLooking) look();
  if (held.ms >= toldMs * 2) {
    toldMs *= 2;
    const report = reportOf(Math.round(held.ms), frames ?? [], owners);
    tellSupervisor(report);
    void tell(report);
  }
}, beatMs);
send("ready");

/**
 * Writes a line without the main thread. The log is loaded for the first of them: few processes
 * ever need it here.
 */
async function tell({ plugin, blockedMs, at, stack }: BlockReport): Promise<void> {
  const { createLog, withFields } = await import("./log.ts");
  const log = withFields(createLog(logOrigin.level), logOrigin.fields);
  log.error("the event loop is blocked", { plugin, blocked_ms: blockedMs, at, stack });
}

/** The main thread holds the channel to the supervising process, and is blocked. */
function tellSupervisor(report: BlockReport): void {
  if (reportFd === undefined) return;
  try {
    writeSync(reportFd, `${JSON.stringify(report)}\n`);
  } catch {
    // The supervising process is gone, and this one is about to be.
  }
}

function begin(newCount: number): void {
  count = newCount;
  held.reset();
  frames = undefined;
  isLooking = false;
  toldMs = endlessMs / 2;
}

/**
 * Reads the stack of the main thread: V8 stops it at the next statement or loop, tells the
 * functions and lets it go on. About 20 ms, the first time 150; the session is there for that long
 * alone.
 */
function look(): void {
  isLooking = true;
  frames = [];
  const looked = count;
  // Few gateways need it.
  const { Session } = process.getBuiltinModule("node:inspector");
  const session = new Session();
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(waiting);
    session.post("Debugger.disable", () => session.disconnect());
  };
  const waiting = setInterval(() => {
    if (Atomics.load(beats, BEAT.count) !== looked) end();
  }, GIVE_UP_MS);
  session.connectToMainThread();
  // A call frame has no URL of its own, whatever its type says.
  const urls = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  session.once("Debugger.paused", ({ params }) => {
    session.post("Debugger.resume");
    end();
    // The loop has come round since: what runs now is something else.
    if (Atomics.load(beats, BEAT.count) !== looked) return;
    frames = params.callFrames.map(({ functionName, location }) => ({
      function: functionName,
      url: urls.get(location.scriptId) ?? "",
      line: location.lineNumber + 1,
    }));
  });
  session.post("Debugger.enable", { maxScriptsCacheSize: 0 });
  session.post("Debugger.pause");
}
