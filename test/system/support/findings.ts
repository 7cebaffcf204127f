/**
 * The findings of a workspace, without a process: the check that `sluice check` and every start
 * share.
 */

import { checkConfig, formatFinding, withTests } from "@sluice/engine";
import { environmentOf } from "./gateway-process.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Reads and checks a workspace, and starts its plugins for their samples. Returns a line for each
 * finding.
 */
export async function findingsOf({ configPath }: Workspace): Promise<string> {
  const checked = await checkConfig({
    path: configPath,
    cwd: process.cwd(),
    environment: environmentOf({}),
  });
  return (await withTests(checked)).findings.map(formatFinding).join("\n");
}
