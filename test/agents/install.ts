/** Installs the agents from the registry, once, outside of the project's own packages. */

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** The agents and the versions that the proof runs. */
const PACKAGES = { "@openai/codex": "0.169.0", "@anthropic-ai/claude-code": "2.1.330" } as const;

const INSTALL_MS = 600_000;

/** Returns the folder of their commands. Rejects when the registry cannot be reached. */
export async function installAgents(): Promise<string> {
  const folder = join(import.meta.dirname, "../../node_modules/.cache/agents");
  const commands = join(folder, "node_modules/.bin");
  if (existsSync(join(commands, "codex")) && existsSync(join(commands, "claude"))) return commands;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const names = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
  const options = { cwd: folder, timeout: INSTALL_MS };
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", ...names], options);
  return commands;
}
