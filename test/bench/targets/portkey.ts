/** The Portkey gateway from npm, installed outside the repository. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Target } from "../target.ts";

const VERSION = "1.15.2";
/** Newer ones break its streams. */
const NODE_SERVER_VERSION = "1.13.0";
const INSTALL_LIMIT_MS = 120_000;
const CACHE = join(
  process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
  "sluice-bench",
  "portkey",
);
const ENTRY = join(CACHE, "node_modules/@portkey-ai/gateway/build/start-server.js");
const LOOPBACK = new URL("../load/loopback.ts", import.meta.url).href;

export const portkey: Target = {
  name: "portkey",
  about: `@portkey-ai/gateway ${VERSION}, @hono/node-server ${NODE_SERVER_VERSION}`,
  isNode: true,
  prepare({ port, upstreamUrl, nodeFlags }) {
    if (!existsSync(ENTRY) && !install()) return { skip: "npm could not install it" };
    return {
      command: process.execPath,
      args: [...nodeFlags, "--import", LOOPBACK, ENTRY, "--headless", `--port=${port}`],
      headers: {
        authorization: "Bearer sk-upstream",
        "x-portkey-provider": "openai",
        "x-portkey-custom-host": `${upstreamUrl}/v1`,
      },
    };
  },
};

function install(): boolean {
  console.log(`installing @portkey-ai/gateway ${VERSION} into ${CACHE}`);
  mkdirSync(CACHE, { recursive: true });
  const held = { "@hono/node-server": NODE_SERVER_VERSION };
  const manifest = {
    name: "sluice-bench-portkey",
    private: true,
    dependencies: { "@portkey-ai/gateway": VERSION, ...held },
  };
  writeFileSync(
    join(CACHE, "package.json"),
    JSON.stringify({ ...manifest, overrides: held }, null, 2),
  );
  // Its install script is patch-package for its own developers: nothing that a user needs.
  const args = ["install", "--prefix", CACHE, "--ignore-scripts", "--no-audit", "--no-fund"];
  return (
    spawnSync("npm", args, { cwd: CACHE, stdio: "ignore", timeout: INSTALL_LIMIT_MS }).status ===
      0 && existsSync(ENTRY)
  );
}
