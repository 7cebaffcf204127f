/**
 * Signals at any moment: in the middle of a start, and while requests end. New calls are answered
 * until the process has ended.
 */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, MESSAGES } from "../support/client.ts";
import type { CommandProcess } from "../support/command-process.ts";
import { childrenOf, createClusterWorkspace, lives } from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { MASTER_KEY, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const WORDS = 80;

let upstream: Upstream;

beforeAll(async () => {
  upstream = await createUpstream();
  upstream.script("gpt-4o", { kind: "reply", text: "word ".repeat(WORDS), eventDelayMs: 10 });
  upstream.script("endless", { kind: "reply", fault: { kind: "hang", after: 3 } });
});
afterAll(() => upstream?.close());

interface Starting {
  readonly command: CommandProcess;
  readonly publicUrl: string;
  readonly adminUrl: string;
}

async function begin(workspace: Workspace): Promise<Starting> {
  const ports = await freePorts();
  const command = runCommand(
    ["serve", "--config", workspace.configPath, "--log-level", "warn"],
    workspace.folder,
    ports,
  );
  const { SLUICE_PORT: port, SLUICE_ADMIN_PORT: adminPort } = ports;
  return {
    command,
    publicUrl: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
  };
}

function stream(publicUrl: string): Promise<Response> {
  return fetch(`${publicUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: MESSAGES, stream: true }),
  });
}

const isReady = (publicUrl: string): Promise<boolean> =>
  fetch(`${publicUrl}/health/ready`).then(
    ({ status }) => status === 200,
    () => false,
  );

/** A request on a connection of its own: its status and headers, or the error of the connection. */
async function ask(
  url: string,
  init: RequestInit = {},
): Promise<{ status: number | string; retryAfter: string | null; connection: string | null }> {
  try {
    const { status, headers } = await fetch(url, {
      ...init,
      headers: { ...init.headers, connection: "close" },
    });
    return {
      status,
      retryAfter: headers.get("retry-after"),
      connection: headers.get("connection"),
    };
  } catch (error) {
    return {
      status: String((error as { cause?: { code?: string } }).cause?.code),
      retryAfter: null,
      connection: null,
    };
  }
}

describe("SIGTERM", () => {
  it("(1.2) while later workers start lets the first one's stream end", async () => {
    const workspace = createClusterWorkspace(upstream.baseUrl);
    workspace.writeStep({
      create: "if (number > 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);",
    });
    const { command, publicUrl } = await begin(workspace);
    try {
      await eventually("the first worker", () => isReady(publicUrl), 20_000);
      const response = await stream(publicUrl);
      const pids = childrenOf(command.pid);
      command.signal("SIGTERM");
      const text = await response.text();
      expect(text.match(/"content":"word "/g)).toHaveLength(WORDS);
      expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
      expect(await command.ended).toEqual({ code: 0, signal: null });
      expect(pids.filter(lives)).toEqual([]);
    } finally {
      command.signal("SIGKILL");
      workspace.remove();
    }
  });

  it.each([300, 800])(
    "%d ms after the start ends a cluster with 0 and leaves no process",
    async (ms) => {
      const workspace = createWorkspace({ baseUrl: upstream.baseUrl, server: "workers: 2" });
      const { command } = await begin(workspace);
      await pause(ms);
      const pids = childrenOf(command.pid);
      command.signal("SIGTERM");
      const { code, signal } = await command.ended;
      // The command line itself is loaded before anything is started.
      expect(code === 0 || signal === "SIGTERM").toBe(true);
      expect(pids.filter(lives)).toEqual([]);
      workspace.remove();
    },
  );

  it("after the first accepted connection of a single process finishes it", async () => {
    const workspace = createWorkspace({ baseUrl: upstream.baseUrl });
    const { command, publicUrl } = await begin(workspace);
    try {
      await eventually("the listener", () => isReady(publicUrl), 20_000);
      const response = await stream(publicUrl);
      command.signal("SIGTERM");
      expect((await response.text()).endsWith("data: [DONE]\n\n")).toBe(true);
      expect(await command.ended).toEqual({ code: 0, signal: null });
    } finally {
      command.signal("SIGKILL");
      workspace.remove();
    }
  });
});

describe("a gateway that drains", () => {
  it.each([1, 2])(
    "(1.3) with %d workers answers new calls with 503 until the last stream has ended",
    async (workers) => {
      const gateway = await startGateway({
        baseUrl: upstream.baseUrl,
        server: `workers: ${workers}`,
      });
      try {
        const response = await chat(gateway, {
          model: "openai/endless",
          messages: MESSAGES,
          stream: true,
        });
        const stopped = gateway.stop();
        const headers = {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        };
        const call = () =>
          ask(`${gateway.publicUrl}/v1/chat/completions`, {
            method: "POST",
            headers,
            body: JSON.stringify({ model: "echo", messages: MESSAGES }),
          });
        await eventually(
          "the drain",
          async () => (await ask(`${gateway.publicUrl}/health/ready`)).status === 503,
        );
        const seen = [];
        for (let round = 0; round < 3; round++) {
          seen.push(
            await Promise.all([
              ask(`${gateway.publicUrl}/health/ready`),
              ask(`${gateway.publicUrl}/health/live`),
              call(),
              ask(`${gateway.adminUrl}/config/status`, { headers }),
              ask(`${gateway.adminUrl}/config/reload`, { method: "POST", headers, body: "{}" }),
            ]),
          );
          await pause(50);
        }
        for (const [ready, live, called, status, reload] of seen) {
          expect([ready?.status, live?.status, status?.status]).toEqual([503, 200, 200]);
          expect(called).toEqual({ status: 503, retryAfter: "1", connection: "close" });
          expect(reload).toMatchObject({ status: 503, retryAfter: "1" });
        }
        // The last request ends when its client leaves.
        await response.body?.cancel();
        expect(await stopped).toEqual({ code: 0, signal: null });
      } finally {
        await gateway.dispose();
      }
    },
  );

  it("serves for the time of shutdown_delay while it is not ready", async () => {
    const gateway = await startGateway({
      baseUrl: upstream.baseUrl,
      server: "shutdown_delay: 800ms",
    });
    try {
      const stopped = gateway.stop();
      await eventually(
        "readiness to end",
        async () => (await ask(`${gateway.publicUrl}/health/ready`)).status === 503,
      );
      const late = await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES });
      expect([late.status, late.headers.get("connection")]).toEqual([200, "close"]);
      await late.text();
      expect(await stopped).toEqual({ code: 0, signal: null });
    } finally {
      await gateway.dispose();
    }
  });
});
