/** A gateway for the dashboard's tests: real, with a scripted upstream, records and traffic. */

import { createUpstream, type Upstream } from "@sluice/testing";
import { admin } from "../../system/support/client.ts";
import { type GatewayProcess, startOwnProcess } from "../../system/support/gateway-process.ts";
import {
  createWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from "../../system/support/workspace.ts";
import { serveDashboard, type Site } from "./site.ts";

/** A running stand. */
export interface Stand extends AsyncDisposable {
  readonly gateway: GatewayProcess;
  readonly upstream: Upstream;
  readonly site: Site;
}

/** Models of the stand: two deployments with a fallback, one without a price, one that fails. */
const MODELS = [
  "{ id: gpt-4o, targets: [{ provider: openai, model: gpt-4o }, { provider: backup, model: gpt-4o }], access_groups: [large] }",
  "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
  "{ id: text-embedding-3-small, mode: embeddings, targets: [{ provider: openai, model: text-embedding-3-small }] }",
  "{ id: flaky, targets: [{ provider: openai, model: gpt-4.1-mini }], fallbacks: { general: [gpt-4o-mini] } }",
  "{ id: in-house, targets: [{ provider: backup, model: in-house }] }",
];

/** What a stand has beside the gateway file. */
export interface StandOptions extends WorkspaceOptions {
  readonly workers?: number;
  readonly logLevel?: string;
  /** Runs before the gateway starts. */
  readonly prepare?: (workspace: Workspace) => Promise<void>;
}

/** Starts a stand. `workers` 1 is a single process. */
export async function startStand(options: StandOptions = {}): Promise<Stand> {
  const { workers = 1, logLevel = "warn", server, prepare, ...more } = options;
  const upstream = await createUpstream();
  const members = [workers > 1 ? `workers: ${workers}` : "", server ?? ""].filter(Boolean);
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    providers: [
      `backup: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${upstream.baseUrl} }`,
    ],
    models: MODELS,
    ...(members.length > 0 && { server: members.join(", ") }),
    ...more,
  });
  await prepare?.(workspace);
  const gateway = await startOwnProcess(workspace, {}, logLevel);
  const site = await serveDashboard(gateway.adminUrl);
  return {
    gateway,
    upstream,
    site,
    async [Symbol.asyncDispose]() {
      await site.close();
      await gateway.dispose();
      await upstream.close();
      workspace.remove();
    },
  };
}

/** Asks the admin listener to change something, and takes nothing but success. */
export async function make<Answer = Readonly<Record<string, unknown>>>(
  gateway: GatewayProcess,
  path: string,
  body: object,
): Promise<Answer> {
  const response = await admin(gateway, path, body);
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}
