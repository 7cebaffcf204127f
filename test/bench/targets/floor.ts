/** The floor: Koa and undici, both bodies parsed, nothing else. */

import { fileURLToPath } from "node:url";
import type { Target } from "../target.ts";

const SCRIPT = fileURLToPath(new URL("../floor.ts", import.meta.url));

export const floor: Target = {
  name: "floor",
  about: "Koa 3 + undici, parses both bodies, pipes streams",
  isNode: true,
  prepare: ({ port, upstreamUrl, nodeFlags }) => ({
    command: process.execPath,
    args: [...nodeFlags, SCRIPT, "--port", String(port), "--upstream", upstreamUrl],
  }),
};
