/** Several gateways on one PostgreSQL, each in a folder of its own, with the same files. */

import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { admin } from "../client.ts";
import {
  type GatewayProcess,
  type ProcessEnvironment,
  runCommand,
  startOwnProcess,
} from "../gateway-process.ts";
import { createDatabase, type TestDatabase } from "../postgres.ts";
import { createWorkspace, type Workspace, type WorkspaceOptions } from "../workspace.ts";

/** One gateway of the fleet. */
export interface FleetMember {
  readonly workspace: Workspace;
  readonly environment: ProcessEnvironment;
  gateway: GatewayProcess;
}

/** A fleet of a test. */
export interface TestFleet {
  readonly database: TestDatabase;
  readonly members: readonly FleetMember[];
  /** The text of the gateway file: the same for all members. */
  text(options?: WorkspaceOptions): string;
  /** Makes a workspace for another member. Its pepper is that of the others. */
  workspace(options?: WorkspaceOptions): Workspace;
  /** Starts a member. `start` may give the file another text first. */
  add(
    environment?: ProcessEnvironment,
    prepare?: (workspace: Workspace) => void,
  ): Promise<FleetMember>;
  dispose(): Promise<void>;
}

/** `GET /fleet`, as far as tests read it. */
export interface FleetView {
  readonly store_answers: boolean;
  readonly agree: boolean;
  readonly rollout: {
    readonly id: number;
    readonly stage: string;
    readonly contents: string;
    readonly reason: string | null;
    readonly canary: { readonly requests: number; readonly errors: number } | null;
  } | null;
  readonly instances: readonly {
    readonly id: string;
    readonly is_self: boolean;
    readonly version: string;
    readonly admin_url: string | null;
    readonly state: string;
    readonly generation: number;
    readonly digest: string;
    readonly contents: string;
    readonly canary: string | null;
    readonly workers: { readonly expected: number; readonly serving: number };
    readonly rollout: { readonly outcome: string; readonly reasons: readonly string[] } | null;
    readonly refused: {
      readonly contents: string | null;
      readonly reasons: readonly string[];
    } | null;
  }[];
}

/** Makes a database, and no member yet. */
export async function createFleet(given: WorkspaceOptions = {}): Promise<TestFleet> {
  const database = await createDatabase();
  const members: FleetMember[] = [];
  const options: WorkspaceOptions = { ...given, postgres: "" };
  const template = createWorkspace(options);
  const text = (more: WorkspaceOptions = {}): string =>
    template.config({ ...options, ...more }).replaceAll(template.dataDirectory, "data");
  const workspace = (more?: WorkspaceOptions): Workspace => {
    const made = createWorkspace(options);
    made.write(text(more));
    const [first] = members;
    if (first !== undefined) {
      mkdirSync(made.dataDirectory, { recursive: true });
      cpSync(join(first.workspace.dataDirectory, "pepper"), join(made.dataDirectory, "pepper"));
    }
    return made;
  };
  return {
    database,
    members,
    text,
    workspace,
    async add(environment = {}, prepare = () => undefined) {
      const made = workspace();
      prepare(made);
      const whole = { DATABASE_URL: database.url, ...environment };
      const gateway = await startOwnProcess(made, whole);
      const member = { workspace: made, environment: whole, gateway };
      members.push(member);
      return member;
    },
    async dispose() {
      await Promise.all(members.map(({ gateway }) => gateway.dispose()));
      template.remove();
      await database.drop();
    },
  };
}

/** The fleet as a member sees it. */
export async function fleetOf({ gateway }: FleetMember): Promise<FleetView> {
  const response = await fetch(`${gateway.adminUrl}/fleet`, {
    headers: { authorization: `Bearer ${gateway.masterKey}` },
  });
  if (response.status !== 200) throw new Error(`GET /fleet answered ${await response.text()}`);
  return (await response.json()) as FleetView;
}

/** Runs a command at a member. */
export async function commandAt(
  { gateway, workspace, environment }: FleetMember,
  ...args: readonly string[]
) {
  const command = runCommand(
    [...args, "--config", workspace.configPath, "--admin-url", gateway.adminUrl],
    workspace.folder,
    environment,
  );
  const { code } = await command.ended;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

/** Asks a member's admin listener by POST. */
export const askMember = async ({ gateway }: FleetMember, path: string, body: object) =>
  admin(gateway, path, body);
