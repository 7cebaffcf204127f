#!/usr/bin/env node
// The command. In a checkout the sources run, TypeScript that Node runs directly; an installed package has the compiled modules. A Node
// that is too old, or has a known fault by which a header ends the process (fixed in 22.22.2 and 24.14.1), is replaced by the packaged one.
import { executionAsyncResource } from "node:async_hooks";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { bundleHook } from "./bundle.js";

/** What is never freed. */
const kept = [];
const [major = 0, minor = 0, patch = 0] = process.versions.node.split(".").map(Number);
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SOURCE = new URL("../src/main.ts", import.meta.url);
const isCheckout = existsSync(SOURCE);
/** The folders of the sources. */
const OWN = [
  new URL("../../", import.meta.url).href,
  new URL("../../../plugins/", import.meta.url).href,
];
/** For a process that loads much code and runs it once. `serve` ends them with its start, `soak` before its load: end-of-start.ts. */
const OF_A_START = [
  // A start allocates much, and would leave a young generation of 60 MB to a process that idles.
  "--semi-space-growth-factor=1",
  // Threads that share small collections cost more than they save.
  "--no-parallel-scavenge",
  // Code is optimised after ten times as many calls: what a start calls a thousand times is not called again.
  "--invocation-count-for-maglev=4000",
  "--invocation-count-for-maglev-osr=1000",
  "--invocation-count-for-turbofan=30000",
  "--invocation-count-for-osr=5000",
];
const isAtLeast = (least) => minor > least[0] || (minor === least[0] && patch >= least[1]);

if (major > 24 || (major === 24 && isAtLeast([14, 1])) || (major === 22 && isAtLeast([22, 2]))) {
  const { default: module } = await import("node:module");
  module.enableCompileCache?.();
  if (isCheckout) module.registerHooks({ resolve: bundleHook(ROOT) ?? resolveOwn });
  // V8 learns at the start, while its young generation is small, that objects of a request "survive", and from then on
  // makes them in the old one, where each keeps the rest of its request alive until a full collection. They do not survive.
  setFlagsFromString("--no-allocation-site-pretenuring");
  // A full collection that finds no object of `process.nextTick` drops their shape, and each later call takes up to 15 times as long
  // (1.7 µs for 0.1). Every request makes a dozen. One of them is kept.
  process.nextTick(() => kept.push(executionAsyncResource()));
  for (const flag of OF_A_START) setFlagsFromString(flag);
  if (process.env.SLUICE_PARENT_FD !== undefined)
    followParent(Number(process.env.SLUICE_PARENT_FD));
  await import((isCheckout ? SOURCE : new URL("../dist/main.js", import.meta.url)).href);
} else {
  const node = packagedNode();
  if (node === undefined) {
    console.error(
      `sluice needs Node 22.22.2 or newer of 22, or 24.14.1 or newer; this is ${process.versions.node}, and no packaged Node is installed. Install another Node, or run npm install without --omit=optional.`,
    );
    process.exit(3);
  }
  const child = spawn(node, process.argv.slice(1), {
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    env: { ...process.env, SLUICE_PARENT_FD: "3" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2"])
    process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) =>
    signal === null ? process.exit(code ?? 1) : process.kill(process.pid, signal),
  );
}

/**
 * Sources of this repository import each other by file, so there is nothing to look up: a tenth of the CPU of a start. Node resolves
 * every other import.
 */
function resolveOwn(specifier, context, next) {
  const { parentURL } = context;
  if (!specifier.startsWith(".") || !specifier.endsWith(".ts") || !isOwn(parentURL))
    return next(specifier, context);
  return {
    url: new URL(specifier, parentURL).href,
    format: "module-typescript",
    shortCircuit: true,
  };
}

function isOwn(url) {
  return OWN.some((folder) => url?.startsWith(folder)) && !url.includes("/node_modules/");
}

/** Ends this process with the one that started it, however that ends: their pipe closes. */
function followParent(fd) {
  // Processes that this one starts have another parent.
  delete process.env.SLUICE_PARENT_FD;
  const pipe = new Socket({ fd, readable: true, writable: false });
  pipe.on("error", () => {}).on("close", () => process.exit(1));
  pipe.resume().unref();
}

function packagedNode() {
  try {
    return createRequire(import.meta.url).resolve(`node-linux-${process.arch}/bin/node`);
  } catch {
    return undefined;
  }
}
