/** Installs Chromium on Debian and Ubuntu, for `npm run test:dashboard`. Needs root. */

import { spawnSync } from "node:child_process";
import { CHROMIUM } from "./support/chromium.ts";

if (CHROMIUM !== undefined) {
  console.log(`Chromium is at ${CHROMIUM}.`);
  process.exit(0);
}
for (const command of [
  ["apt-get", "update"],
  ["apt-get", "install", "-y", "--no-install-recommends", "chromium", "fonts-liberation"],
] as const) {
  const [name, ...parameters] = command;
  const { status } = spawnSync(name, parameters, { stdio: "inherit" });
  if (status === 0) continue;
  console.error(
    `${command.join(" ")} failed. On another system, set CHROMIUM_PATH to a Chromium that is installed.`,
  );
  process.exit(1);
}
