/**
 * The thread behind `watchStart`: when the event loop sends no beat, it reads the stack of the main
 * thread.
 */

import { existsSync, readFileSync, writeSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { workerData } from "node:worker_threads";
import type { BlockFrame, BlockReport } from "./block-report.ts";
import { BUSY_SHARE, HeldTime } from "./main-thread.ts";
import type { StartWatchData } from "./start-watch.ts";

const LOOK_MS = 250;
/** How long the stack is waited for. Code that V8 cannot stop shows none. */
const STACK_MS = 10_000;
/** Code that uses less of a processor is named after this many times the limit. */
const SLEEP_FACTOR = 4;
const EXIT_FINDINGS = 1;
const STDOUT = 1;
const STDERR = 2;

const { beats, heldMs, whenHeld, ownUrls } = workerData as StartWatchData;

/** The gateway's own code, and the kit's: a plugin that called it is the one that is named. */
const own = (): readonly string[] => [
  new URL("../../", import.meta.url).href,
  new URL("../", import.meta.resolve("@sluice/kit")).href,
  new URL("../", import.meta.resolve("@sluice/contract")).href,
  new URL("../", import.meta.resolve("@sluice/runtime")).href,
  ...ownUrls,
];

let last = Atomics.load(beats, 0);
let isReported = false;
let isLooking = false;
/** The plugin files on the stack at half the time; `undefined` before that look. */
let seenAtHalf: ReadonlySet<string> | undefined;
const heldTime = new HeldTime();
const parent = process.ppid;

setInterval(() => {
  const now = Atomics.load(beats, 0);
  // Looks are counted and not time: a machine that stood still is no plugin's doing.
  if (now === last) heldTime.pass(LOOK_MS);
  else countAnew();
  last = now;
  // A held event loop cannot notice that the supervising process is gone.
  if (isReported && isWorker() && process.ppid !== parent) kill();
  if (isReported || isLooking || !isHeldFor(seenAtHalf === undefined ? heldMs / 2 : heldMs)) return;
  isLooking = true;
  look();
}, LOOK_MS);

function countAnew(): void {
  seenAtHalf = undefined;
  heldTime.reset();
}

function isWorker(): boolean {
  return whenHeld.kind === "report" && whenHeld.reportFd !== undefined;
}

/** A loop uses a processor. Code that sleeps is held too, and is given longer. */
function isHeldFor(ms: number): boolean {
  return (
    heldTime.ms >= ms * SLEEP_FACTOR || (heldTime.ms >= ms && heldTime.cpuMs >= ms * BUSY_SHARE)
  );
}

function kill(): void {
  process.kill(process.pid, "SIGKILL");
}

/**
 * Stops the main thread at its next statement or loop, reads its functions, and lets it go on, or
 * ends the process there.
 */
function look(): void {
  // Few starts need it.
  const { Session } = process.getBuiltinModule("node:inspector");
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  const unseen = setTimeout(() => conclude(undefined, kill), STACK_MS);
  session.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => urls.set(scriptId, url));
  session.once("Debugger.paused", ({ params: { callFrames } }) => {
    clearTimeout(unseen);
    const frames = callFrames.map(({ functionName, location }) => ({
      function: functionName,
      url: urls.get(location.scriptId) ?? "",
      line: location.lineNumber + 1,
    }));
    const [innermost] = callFrames;
    const end = (): void => {
      const expression = `process.reallyExit(${EXIT_FINDINGS})`;
      // V8 may resume the main thread before it evaluates.
      setTimeout(kill, STACK_MS);
      if (innermost !== undefined)
        session.post("Debugger.evaluateOnCallFrame", {
          callFrameId: innermost.callFrameId,
          expression,
        });
    };
    judge(frames, end);
    session.post("Debugger.resume");
    // The next look waits for it: a second session that is paused would be resumed by it.
    session.post("Debugger.disable", () => {
      session.disconnect();
      isLooking = false;
    });
  });
  session.post("Debugger.enable", { maxScriptsCacheSize: 0 });
  session.post("Debugger.pause");
}

/**
 * Names a plugin that was on the stack at half the time and still is. One look is no proof: a slow
 * machine that makes one plugin after the other shows another one at each look.
 */
function judge(frames: readonly BlockFrame[], end: () => void): void {
  const ofPlugins = frames.filter(({ url }) => isOfPlugin(url));
  const held = ofPlugins.find(({ url }) => seenAtHalf?.has(url));
  if (held !== undefined) conclude(held, end);
  else if (seenAtHalf === undefined && ofPlugins.length > 0)
    seenAtHalf = new Set(ofPlugins.map(({ url }) => url));
  // A large configuration is the gateway's own work: its time counts anew.
  else countAnew();
}

/** Ends the watch with a report. `held`: `undefined` where the stack could not be read. */
function conclude(held: BlockFrame | undefined, end: () => void): void {
  isReported = true;
  if (whenHeld.kind === "report") report(held);
  else {
    print(held);
    end();
  }
}

/** A file of the user's, or of an installed package that is built on the kit. */
function isOfPlugin(url: string): boolean {
  if (!url.startsWith("file:") || own().some((one) => url.startsWith(one))) return false;
  return !url.includes("/node_modules/") || packageOf(fileURLToPath(url)) !== undefined;
}

/**
 * The package of a plugin's file; the file itself, as the reader of the message finds it, where no
 * package is built on the kit.
 */
function nameOf({ url }: BlockFrame): string {
  const file = fileURLToPath(url);
  return packageOf(file) ?? relativeTo(file);
}

/**
 * The name of the package that a file belongs to; `undefined` where that does not depend on the
 * kit.
 */
function packageOf(path: string): string | undefined {
  const folder = dirname(path);
  const file = join(folder, "package.json");
  if (!existsSync(file)) return folder === path ? undefined : packageOf(folder);
  const { name, dependencies, peerDependencies } = manifestIn(file);
  const isBuiltOnKit = ["@sluice/kit", "@sluice/contract"].some(
    (one) => one in { ...dependencies, ...peerDependencies },
  );
  return isBuiltOnKit ? (name ?? relativeTo(folder)) : undefined;
}

interface Manifest {
  readonly name?: string;
  readonly dependencies?: object;
  readonly peerDependencies?: object;
}

/** A file that cannot be read names nothing. */
function manifestIn(file: string): Manifest {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Manifest;
  } catch {
    return {};
  }
}

function print(held: BlockFrame | undefined): void {
  const file = held === undefined ? "" : relativeTo(fileURLToPath(held.url));
  const at = { file, line: held?.line ?? 1, column: 1 };
  const name = held === undefined || held.function === "" ? "" : ` (${held.function})`;
  const owner = held === undefined ? "a plugin" : `the plugin ${nameOf(held)}`;
  const message = `The code of ${owner}${name} ran for ${heldMs / 1_000} s without a pause.`;
  const fix = "End its loop: a gateway with this plugin would not start.";
  const line =
    whenHeld.kind === "end" && whenHeld.json
      ? JSON.stringify([{ ...at, message, fix, severity: "error", rule: null }], null, 2)
      : `${at.file}:${at.line}:${at.column}  ${message}  ${fix}`;
  writeSync(STDOUT, `${line}\n`);
}

function report(held: BlockFrame | undefined): void {
  const at =
    held === undefined
      ? undefined
      : `${held.function === "" ? "(anonymous)" : held.function} (${held.url}:${held.line})`;
  const plugin = held === undefined ? "unknown" : nameOf(held);
  const known: BlockReport = { blockedMs: heldMs, plugin, at, stack: [] };
  const fields = { level: 50, time: new Date().toISOString(), plugin, blocked_ms: heldMs, at };
  writeSync(STDERR, `${JSON.stringify({ ...fields, msg: "a plugin holds up the start" })}\n`);
  if (whenHeld.kind === "report" && whenHeld.reportFd !== undefined)
    writeSync(whenHeld.reportFd, `${JSON.stringify(known)}\n`);
}

function relativeTo(path: string): string {
  const folder = process.cwd() + sep;
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}
