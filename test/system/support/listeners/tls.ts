/**
 * `server.tls`: HTTPS on both listeners, and certificates that are renewed while it serves. The
 * tests are the same for one process and for several.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MESSAGES } from "../client.ts";
import { eventually } from "../eventually.ts";
import {
  type GatewayProcess,
  MASTER_KEY,
  runCommand,
  startGateway,
  startOwnProcess,
} from "../gateway-process.ts";
import { createWorkspace, type Workspace } from "../workspace.ts";

/** The option of `server`. */
export const TLS = "tls: { certificate: tls/tls.crt, key: tls/tls.key }";
/** Whether certificates can be made. */
export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

/** Makes a pair in the workspace, each file put in place by a rename. Returns the certificate. */
export function makePair(workspace: Workspace, name: string): string {
  const folder = join(workspace.configPath, "../tls");
  mkdirSync(folder, { recursive: true });
  const [key, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  const options =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj".split(" ");
  const made = spawnSync("openssl", [
    ...options,
    `/CN=${name}.test`,
    "-keyout",
    key,
    "-out",
    certificate,
  ]);
  if (made.status !== 0) throw new Error(made.stderr.toString());
  const text = readFileSync(certificate, "utf8");
  renameSync(key, join(folder, "tls.key"));
  renameSync(certificate, join(folder, "tls.crt"));
  return text;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** The name in the certificate that the server showed. */
  readonly name: string;
}

function ask(url: string, path: string, certificate: string, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      {
        method: body === undefined ? "GET" : "POST",
        ca: certificate,
        checkServerIdentity: () => undefined,
        agent: false,
        headers: { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" },
      },
      (response) => {
        let text = "";
        const { subject } = (response.socket as TLSSocket).getPeerCertificate();
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, text, name: String(subject.CN) }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** The tests with a number of workers. Call it in a `describe`. */
export function tlsTests(workers: 1 | 2): void {
  const start = workers === 1 ? startGateway : startOwnProcess;
  let gateway: GatewayProcess;
  let certificate: string;
  let adminPort: string;

  beforeAll(async () => {
    const workspace = createWorkspace({ server: `workers: ${workers}, ${TLS}` });
    certificate = makePair(workspace, "first");
    adminPort = await freePort();
    gateway = await start(workspace, { SLUICE_ADMIN_PORT: adminPort }, "info");
  });
  afterAll(() => gateway?.dispose());

  const chat = (): Promise<Answer> =>
    ask(gateway.publicUrl, "/v1/chat/completions", certificate, {
      model: "echo",
      messages: MESSAGES,
    });

  it("refuses a large body unread: the reply comes whole while the client sends", async () => {
    const { port, hostname } = new URL(gateway.publicUrl);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    socket.on("error", () => undefined);
    const bytes = 8 * 1_024 * 1_024;
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer sk-unknown\r\ncontent-type: application/json\r\ncontent-length: ${2 * bytes}\r\n\r\n`,
    );
    // The client sends half of it, whatever it reads, and then waits.
    socket.write(Buffer.alloc(bytes, "x"));
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    await new Promise((resolve) => void socket.once("end", resolve));
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n")))).toMatchObject({
      error: { type: "authentication_error" },
    });
    socket.destroy();
    expect((await chat()).status).toBe(200);
  });

  it("both listeners speak HTTPS and nothing else", async () => {
    expect([gateway.publicUrl, gateway.adminUrl]).toEqual([
      expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/),
      `https://127.0.0.1:${adminPort}`,
    ]);
    expect(await chat()).toMatchObject({ status: 200, name: "first.test" });
    expect(await ask(gateway.adminUrl, "/config/status", certificate)).toMatchObject({
      status: 200,
      name: "first.test",
    });
    for (const url of [gateway.publicUrl, gateway.adminUrl])
      await expect(fetch(`${url.replace("https:", "http:")}/health/live`)).rejects.toThrow(
        "fetch failed",
      );
  });

  it("the commands reach it by the configuration's own certificate", async () => {
    const command = runCommand(
      ["status", "--config", gateway.configPath],
      gateway.workspace.folder,
      {
        SLUICE_ADMIN_PORT: adminPort,
      },
    );
    expect([(await command.ended).code, command.stderr]).toEqual([0, ""]);
  });

  it("a certificate that is replaced is shown to new connections, and requests go on", async () => {
    const next = makePair(gateway.workspace, "second");
    const both = certificate + next;
    await eventually("the new certificate on every listener", async () => {
      const answers = await Promise.all([
        ask(gateway.adminUrl, "/config/status", both),
        ...Array.from({ length: 4 }, () => ask(gateway.publicUrl, "/v1/models", both)),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      return answers.every(({ name }) => name === "second.test");
    });
    // Each process reads the files by itself; the supervisor serves the administration of several
    // workers.
    const processes = workers === 1 ? 1 : workers + 1;
    const readAgain = (): number =>
      gateway.stderr.split("the TLS certificate was read again").length - 1;
    await eventually("the new certificate in every process", () => readAgain() >= processes);
    certificate = next;
  });

  it.each(["tls.crt", "tls.key"])(
    "a file that is empty for a moment leaves the certificate in place: %s",
    async (file) => {
      const path = join(gateway.configPath, "../tls", file);
      const text = readFileSync(path);
      const lines = (): number => gateway.stderr.split("is empty").length;
      const before = lines();
      writeFileSync(path, "");
      await eventually("the log line of every process", () => lines() >= before + workers);
      expect(await chat()).toMatchObject({ status: 200, name: "second.test" });
      writeFileSync(path, text);
    },
  );

  it("files that cannot be used leave the certificate before in place, and the log says why", async () => {
    writeFileSync(join(gateway.configPath, "../tls/tls.crt"), "not a certificate\n");
    await eventually("the log line", () => gateway.stderr.includes("PEM routines"));
    expect(await chat()).toMatchObject({ status: 200, name: "second.test" });
    expect(gateway.stderr).not.toContain("PRIVATE KEY");
  });
}
