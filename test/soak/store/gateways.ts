/** Gateways of a proof on one database, each a process with a folder of its own. */

import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type GatewayProcess, startOwnProcess } from "../../system/support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../../system/support/workspace.ts";

/** Nothing listens there: the proofs call no upstream. */
const BASE_URL = "http://127.0.0.1:9";

/** Running gateways. */
export interface Gateways {
  readonly all: readonly GatewayProcess[];
  /** The secret that digests of keys are made with: the same in all. */
  readonly pepper: Buffer;
  stop(): Promise<void>;
}

/** Starts them. `options` are further options of the store in YAML. */
export async function startGateways(url: string, count: number, options = ""): Promise<Gateways> {
  const workspaces: Workspace[] = [];
  const all: GatewayProcess[] = [];
  for (let index = 0; index < count; index++) {
    const workspace = createWorkspace({ baseUrl: BASE_URL, postgres: options });
    const [first] = workspaces;
    if (first !== undefined) {
      mkdirSync(workspace.dataDirectory, { recursive: true });
      cpSync(join(first.dataDirectory, "pepper"), join(workspace.dataDirectory, "pepper"));
    }
    workspaces.push(workspace);
    const environment = { DATABASE_URL: url, OPENAI_API_KEY: "sk-upstream" };
    // oxlint-disable-next-line no-await-in-loop -- the first one makes the pepper.
    all.push(await startOwnProcess(workspace, environment));
  }
  const folder = workspaces[0]?.dataDirectory ?? "";
  return {
    all,
    pepper: Buffer.from(readFileSync(join(folder, "pepper"), "utf8").trim(), "hex"),
    async stop() {
      await Promise.all(all.map((gateway) => gateway.dispose()));
      for (const workspace of workspaces) workspace.remove();
    },
  };
}

/** The status that a key gets for the list of models, which needs nothing but the key. */
export async function statusOf({ publicUrl }: GatewayProcess, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${publicUrl}/v1/models`, { headers });
  await response.arrayBuffer();
  return response.status;
}
