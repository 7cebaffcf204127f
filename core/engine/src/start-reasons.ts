/** Why a start failed, in lines for people. */

import { ConfigError } from "./check-config.ts";
import { formatFinding } from "./config/finding.ts";
import { StartError } from "./resources/installation.ts";

/** The lines: findings, one sentence, or the stack of an unexpected error. */
export function reasonsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) {
    const lines = error.findings.map(formatFinding);
    if (error.lastGood === undefined) return lines;
    const { lastGood } = error;
    return [
      ...lines,
      `Generation ${lastGood} ran here last: sluice serve --last-good starts with it, and leaves the files as they are.`,
    ];
  }
  if (error instanceof StartError) return [error.message];
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
}
