/**
 * A gateway of two workers with a step from a file beside the configuration, which tests rewrite.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { admin, MESSAGES } from "./client.ts";
import { eventually } from "./eventually.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

export const SIZE = 2;

/** One worker in the status. */
export interface WorkerStatus {
  readonly worker: number;
  readonly pid: number;
  readonly answers: boolean;
  readonly generation: number;
  readonly digest: string;
  readonly held_by?: string | null;
  readonly differs: string | null;
}

/** `GET /config/status` of a gateway with workers, as far as the tests look. */
export interface ClusterStatus {
  readonly live: { readonly generation: number; readonly digest: string };
  readonly last_attempt: { readonly outcome: string } | null;
  readonly waiting_for_restart: readonly string[];
  readonly workers_agree: boolean;
  readonly workers: readonly WorkerStatus[];
}

/** A workspace whose step `says` has an option `word`, and comes from `my-plugins/says.ts`. */
export interface ClusterWorkspace extends Workspace {
  readonly pluginFile: string;
  /** Writes the step: `at` is code of `create`, `run` of a request. */
  writeStep(code?: { readonly create?: string; readonly run?: string }): void;
  /** Edits the step's option in the chat pipeline: a generation of its own. */
  writeWord(word: string): void;
}

/** Makes the workspace. `server` is more of the section `server`. */
export function createClusterWorkspace(baseUrl: string, server = ""): ClusterWorkspace {
  const members = `workers: ${SIZE}${server === "" ? "" : `, ${server}`}`;
  const workspace = createWorkspace({ baseUrl, server: members });
  mkdirSync(join(workspace.folder, "my-plugins"));
  const pluginFile = join(workspace.folder, "my-plugins/says.ts");
  const text = workspace.config({ baseUrl, server: members });
  workspace.write(text.replace("plugins:\n", 'plugins:\n  - "../my-plugins/says.ts"\n'));
  const chatFile = join(workspace.pipelinesFolder, "chat.yaml");
  const shipped = readFileSync(chatFile, "utf8");
  const cluster: ClusterWorkspace = {
    ...workspace,
    pluginFile,
    writeStep: ({ create = "", run = "" } = {}) => writeFileSync(pluginFile, stepOf(create, run)),
    writeWord: (word) =>
      writeFileSync(
        chatFile,
        shipped.replace(/^( +)- auth\b.*$/m, `$&\n$1- { use: says, with: { word: ${word} } }`),
      ),
  };
  cluster.writeStep();
  cluster.writeWord("first");
  return cluster;
}

function stepOf(create: string, run: string): string {
  return `
import { defineStep } from "@sluice/kit";
export default defineStep({
  name: "says", stability: "experimental", summary: "Says a word.", operations: ["chat"],
  config: { type: "object", additionalProperties: false, properties: { word: { type: "string", description: "The word." } } },
  create({ word }) {
    const { number } = JSON.parse(process.env.SLUICE_WORKER ?? "{}");
    ${create}
    return {
      async run({ exchange }, next) {
        exchange.headers.set("x-said", word);
        exchange.headers.set("x-worker", String(number));
        ${run}
        await next();
      },
    };
  },
});
`;
}

export async function clusterStatus(gateway: GatewayProcess): Promise<ClusterStatus> {
  return (await (await admin(gateway, "/config/status")).json()) as ClusterStatus;
}

/** The status, once every worker is up and none has one of these pids. */
export function waitForWorkers(
  gateway: GatewayProcess,
  without: readonly number[] = [],
  deadlineMs = 15_000,
): Promise<ClusterStatus> {
  return eventually(
    "all workers",
    async () => {
      const answer = await admin(gateway, "/config/status");
      const now = answer.status === 200 && ((await answer.json()) as ClusterStatus);
      return (
        now !== false &&
        now.workers.length === SIZE &&
        now.workers.every(({ pid, answers }) => answers && !without.includes(pid)) &&
        now
      );
    },
    deadlineMs,
  );
}

/** What a restart came to. */
export interface Restarted {
  readonly outcome: string;
  readonly replaced: number;
  readonly reasons: readonly string[];
}

/** Asks for a restart, and waits for it. */
export async function restartWorkers(gateway: GatewayProcess): Promise<Restarted> {
  return (await (await admin(gateway, "/restart", {})).json()) as Restarted;
}

/**
 * A chat request on a connection of its own, so that any worker may get it: its status, and who
 * answered.
 */
export function freshChat(
  gateway: GatewayProcess,
  key = gateway.masterKey,
  model = "gpt-4o-mini",
): Promise<{ status: number; worker: number; id: string }> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = request(
      `${gateway.publicUrl}/v1/chat/completions`,
      { method: "POST", agent, headers },
      (response) => {
        response.resume().on("end", () => {
          const { "x-worker": worker = "0", "x-request-id": id = "" } = response.headers;
          resolve({ status: response.statusCode ?? 0, worker: Number(worker), id: String(id) });
        });
      },
    );
    sent.on("error", reject).end(JSON.stringify({ model, messages: MESSAGES }));
  });
}

export function pidsOf({ workers }: ClusterStatus): number[] {
  return workers.map(({ pid }) => pid);
}

/** Whether a process is alive. A zombie is not. */
export function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The living children of a process. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.trim().split(" ").filter(Boolean).map(Number).filter(lives);
}
