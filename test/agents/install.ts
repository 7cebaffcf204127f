/** Installs the agents from the registry, once, outside of the project's own packages. */

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** The agents and the versions that the proof runs. */
const PACKAGES: Readonly<Record<string, string>> = {
  "@anthropic-ai/claude-code": "2.1.330",
  "@google/gemini-cli": "0.61.0",
  "@openai/codex": "0.169.0",
  "@qwen-code/qwen-code": "0.24.4",
  "opencode-ai": "1.18.33",
};
/** Where each command lies. Install scripts are off here: some packages only link a program. */
const PLATFORM = `${process.platform}-${process.arch}`;
const COMMANDS: Readonly<Record<string, string>> = {
  claude: `@anthropic-ai/claude-code-${PLATFORM}/claude`,
  codex: ".bin/codex",
  gemini: ".bin/gemini",
  opencode: `opencode-${PLATFORM}/bin/opencode`,
  qwen: ".bin/qwen",
};

const INSTALL_MS = 600_000;

/** Returns the folder of their commands. Rejects when the registry cannot be reached. */
export async function installAgents(): Promise<string> {
  const folder = join(import.meta.dirname, "../../node_modules/.cache/agents");
  const commands = join(folder, "commands");
  if (Object.keys(COMMANDS).every((name) => existsSync(join(commands, name)))) return commands;
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const names = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
  const options = { cwd: folder, timeout: INSTALL_MS };
  await promisify(execFile)("npm", ["install", "--no-audit", "--no-fund", ...names], options);
  for (const [name, path] of Object.entries(COMMANDS)) {
    const link = join(commands, name);
    rmSync(link, { force: true });
    symlinkSync(join(folder, "node_modules", path), link);
  }
  return commands;
}
