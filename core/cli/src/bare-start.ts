/** `sluice` without a command: a gateway that works, whatever the folder holds. */

import { existsSync } from "node:fs";
import { defaultConfig } from "./default-config.ts";

/** The arguments: `serve`, with the shipped gateway file where the folder has none. */
export async function bareStart(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const file = defaultConfig(environment, existsSync);
  if (existsSync(file) || (environment.SLUICE_CONFIG ?? "") !== "")
    return ["serve", "--config", file];
  const { SHIPPED_GATEWAY } = await import("@sluice/engine/config");
  return ["serve", "--config", SHIPPED_GATEWAY];
}
