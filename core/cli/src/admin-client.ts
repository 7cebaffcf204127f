/** Talks to the admin listener of the running gateway, so that one process alone has the store open. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { checkSection, formatFinding, openConfig, readOverrides, serverSchema, type ServerSection } from "@sluice/engine/config";
import { dataDirectoryOf, readRunning } from "@sluice/engine/installation";
import { CommandError, EXIT } from "./exit.ts";
import { sendRequest } from "./send-request.ts";
import { reasonOf } from "./reason-of.ts";

/** Where the gateway is, as options say it. */
export interface AdminOptions {
  readonly config: string;
  readonly adminUrl?: string;
}

/** Asks the gateway: with a body by POST, without one by GET. */
export type AskAdmin = (path: string, body?: JsonObject) => Promise<unknown>;

const TIMEOUT_MS = 15_000;

/** A function that asks the gateway. Throws a CommandError without an address or a master key. */
export function adminClient(options: AdminOptions, timeoutMs = TIMEOUT_MS): AskAdmin {
  const { url, dataDirectory, certificate } = placeOf(options);
  const headers = { authorization: `Bearer ${masterKeyOf(dataDirectory)}`, "content-type": "application/json" };
  return async (path, body) => {
    const call =
      body === undefined
        ? { method: "GET" as const, headers, timeoutMs }
        : { method: "POST" as const, headers, timeoutMs, body: JSON.stringify(body) };
    const { status, json } = await sendRequest(`${url}${path}`, call, certificate).catch((error: unknown) => {
      throw new CommandError(
        EXIT.notStarted,
        `No gateway answers at ${url} (${reasonOf(error)}): start it with sluice serve, or name its admin listener with --admin-url.`,
      );
    });
    if (status === 200 && json !== undefined) return json;
    throw refusal(url, status, json);
  };
}

function refusal(url: string, status: number, answer: unknown): CommandError {
  const error = isObject(answer) && isObject(answer["error"]) ? answer["error"] : undefined;
  if (typeof error?.["message"] !== "string") {
    return new CommandError(
      EXIT.notStarted,
      `What answers at ${url} is not Sluice's admin listener (status ${status}): name it with --admin-url.`,
    );
  }
  if (status === 401) {
    return new CommandError(EXIT.findings, `The gateway at ${url} has another master key: set SLUICE_MASTER_KEY to it.`);
  }
  return new CommandError(EXIT.findings, error["message"]);
}

interface Place {
  readonly url: string;
  /** PEM of the certificate that the listener shows; `undefined` where it has none, or where the address was given. */
  readonly certificate?: string | undefined;
  readonly dataDirectory: string;
}

/**
 * `--admin-url`, else where the gateway that runs on the data folder says that it is, else what the configuration and
 * `SLUICE_ADMIN_PORT` say. The files may be broken: that is when the gateway is asked what runs.
 */
function placeOf({ config, adminUrl }: AdminOptions): Place {
  const cwd = process.cwd();
  const opened = openConfig({ path: config, cwd, environment: process.env });
  const dataDirectory = dataDirectoryOf(opened);
  if (adminUrl !== undefined) return { url: checkedUrl(adminUrl), dataDirectory };
  const isNamed = (process.env["SLUICE_ADMIN_PORT"] ?? "") !== "";
  const running = isNamed ? undefined : readRunning(dataDirectory);
  if (running !== undefined) {
    const certificate = running.certificate === undefined ? undefined : readCertificate(running.certificate);
    return { url: reachableUrl(running.adminUrl), dataDirectory, certificate };
  }
  const { gateway, findings, path } = opened;
  if (gateway === undefined || !isObject(gateway.value)) {
    const reason = findings[0] === undefined ? `${path} holds no configuration` : formatFinding(findings[0]);
    throw nowhere(reason, dataDirectory);
  }
  const section = (gateway.value as JsonObject)["server"] ?? {};
  const { overrides, findings: faults } = readOverrides(process.env, gateway.document.keyAt(["server"]));
  const [fault] = [...faults, ...checkSection(gateway, ["server"], serverSchema, section)];
  if (fault !== undefined) throw nowhere(formatFinding(fault), dataDirectory);
  const { admin, tls } = section as unknown as ServerSection;
  const port = overrides.adminPort ?? admin.port;
  if (port === 0) {
    throw new CommandError(
      EXIT.usage,
      "The admin port is 0, any free one: name the address that the start printed with --admin-url.",
    );
  }
  const address = `${reachable(admin.host)}:${port}`;
  if (tls === undefined) return { url: `http://${address}`, dataDirectory };
  return { url: `https://${address}`, dataDirectory, certificate: readCertificate(resolve(dirname(path), tls.certificate)) };
}

function nowhere(reason: string, dataDirectory: string): CommandError {
  const hint = `no gateway runs on the data folder ${dataDirectory}; name the file with --config, or the admin listener with --admin-url`;
  return new CommandError(EXIT.usage, `${reason} (${hint})`);
}

/** An address that this machine reaches, of one that a listener has. */
function reachableUrl(text: string): string {
  const url = new URL(text);
  return `${url.protocol}//${reachable(url.hostname.replace(/^\[|\]$/g, ""))}:${url.port}`;
}

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandError(EXIT.usage, `--admin-url ${text} is no address; write it as http://127.0.0.1:4001.`);
  }
  return text.replace(/\/+$/, "");
}

/** An address that a listener on every network can be reached by. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function readCertificate(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError(EXIT.notStarted, `server.tls.certificate ${path} cannot be read (${reasonOf(error)}).`);
  }
}

function masterKeyOf(dataDirectory: string): string {
  const { SLUICE_MASTER_KEY: given } = process.env;
  if (given !== undefined && given !== "") return given;
  const path = join(dataDirectory, "master.key");
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    if (!existsSync(dataDirectory)) {
      const message = `There is no data folder ${dataDirectory}: it was moved or removed, or no gateway has started here. Put it back, or set SLUICE_MASTER_KEY.`;
      throw new CommandError(EXIT.notStarted, message);
    }
    throw new CommandError(EXIT.notStarted, `No master key: set SLUICE_MASTER_KEY, or run this where ${path} can be read.`);
  }
}
