/** The thread behind `watchStart`: when the event loop sends no beat, it reads the stack of the main thread. */

import { existsSync, readFileSync, writeSync } from "node:fs";
import { Session } from "node:inspector";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { workerData } from "node:worker_threads";
import type { BlockFrame, BlockReport } from "./block-report.ts";
import type { StartWatchData } from "./start-watch.ts";

const LOOK_MS = 250;
/** How long the stack is waited for. Code that V8 cannot stop shows none. */
const STACK_MS = 2_000;
const EXIT_FINDINGS = 1;
const STDOUT = 1;
const STDERR = 2;

/** The gateway's own code, and the kit's: a plugin that called it is the one that is named. */
const OWN = [
  new URL("../", import.meta.url).href,
  new URL("./", import.meta.resolve("@sluice/kit")).href,
  new URL("./", import.meta.resolve("@sluice/spec")).href,
];

const { beats, heldMs, whenHeld } = workerData as StartWatchData;
let last = Atomics.load(beats, 0);
let silentLooks = 0;
let isTold = false;

setInterval(() => {
  const now = Atomics.load(beats, 0);
  // Looks are counted and not time: a machine that stood still is no plugin's doing.
  silentLooks = now === last ? silentLooks + 1 : 0;
  last = now;
  if (silentLooks * LOOK_MS < heldMs || isTold) return;
  isTold = true;
  look();
}, LOOK_MS);

/** Stops the main thread at its next statement or loop, reads its functions, and lets it go on, or ends the process there. */
function look(): void {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  const unseen = setTimeout(() => tell([], () => process.kill(process.pid, "SIGKILL")), STACK_MS);
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
      if (innermost !== undefined)
        session.post("Debugger.evaluateOnCallFrame", { callFrameId: innermost.callFrameId, expression });
    };
    tell(frames, end);
    session.post("Debugger.resume");
    session.post("Debugger.disable", () => session.disconnect());
  });
  session.post("Debugger.enable", { maxScriptsCacheSize: 0 });
  session.post("Debugger.pause");
}

function tell(frames: readonly BlockFrame[], end: () => void): void {
  const held = frames.find(({ url }) => isOfPlugin(url));
  // A large configuration is the gateway's own work.
  if (held === undefined && frames.length > 0) {
    isTold = false;
    silentLooks = 0;
    return;
  }
  if (whenHeld.kind === "report") report(held);
  else {
    print(held);
    end();
  }
}

/** A file of the user's, or of an installed package that is built on the kit. */
function isOfPlugin(url: string): boolean {
  if (!url.startsWith("file:") || OWN.some((own) => url.startsWith(own))) return false;
  return !url.includes("/node_modules/") || dependsOnKit(dirname(fileURLToPath(url)));
}

function dependsOnKit(folder: string): boolean {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return folder !== dirname(folder) && dependsOnKit(dirname(folder));
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(file, "utf8")) as Readonly<
    Record<string, object | undefined>
  >;
  return ["@sluice/kit", "@sluice/spec"].some((name) => name in { ...dependencies, ...peerDependencies });
}

function print(held: BlockFrame | undefined): void {
  const file = held === undefined ? "" : relativeTo(fileURLToPath(held.url));
  const at = { file, line: held?.line ?? 1, column: 1 };
  const name = held === undefined || held.function === "" ? "" : ` (${held.function})`;
  const message = `The code of a plugin${name} ran for ${heldMs / 1_000} s without a pause.`;
  const fix = "End its loop: a gateway with this plugin would not start.";
  const line =
    whenHeld.kind === "end" && whenHeld.json
      ? JSON.stringify([{ ...at, message, fix, severity: "error", rule: null }], null, 2)
      : `${at.file}:${at.line}:${at.column}  ${message}  ${fix}`;
  writeSync(STDOUT, `${line}\n`);
}

function report(held: BlockFrame | undefined): void {
  const at =
    held === undefined ? undefined : `${held.function === "" ? "(anonymous)" : held.function} (${held.url}:${held.line})`;
  const known: BlockReport = { blockedMs: heldMs, plugin: "unknown", at, stack: [] };
  const fields = { level: 50, time: new Date().toISOString(), blocked_ms: heldMs, at };
  writeSync(STDERR, `${JSON.stringify({ ...fields, msg: "a plugin holds up the start" })}\n`);
  if (whenHeld.kind === "report" && whenHeld.reportFd !== undefined) writeSync(whenHeld.reportFd, `${JSON.stringify(known)}\n`);
}

function relativeTo(path: string): string {
  const folder = process.cwd() + sep;
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}
