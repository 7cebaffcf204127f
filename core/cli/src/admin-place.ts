/**
 * Where the running gateway is, and the key that its admin listener takes. Loads what reads a
 * configuration.
 */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type JsonObject, errorReason } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import {
  checkSection,
  formatFinding,
  openConfig,
  readOverrides,
  serverSchema,
  type ServerSection,
} from "@sluice/engine/config";
import { dataDirectoryOf, givenMasterKey, readRunning } from "@sluice/engine/installation";
import { CommandError, EXIT } from "./exit.ts";

/** Where the gateway is, as options say it. */
export interface AdminOptions {
  readonly config: string;
  readonly adminUrl?: string;
}

/** The admin listener of a gateway. */
export interface Place {
  readonly url: string;
  /**
   * PEM of the certificate that the listener shows; `undefined` where it has none, or where the
   * address was given.
   */
  readonly certificate?: string | undefined;
  readonly dataDirectory: string;
}

/**
 * `--admin-url`, else where the gateway that runs on the data folder says that it is, else what the
 * configuration and `SLUICE_ADMIN_PORT` say. The files may be broken: that is when the gateway is
 * asked what runs.
 */
export function placeOf({ config, adminUrl }: AdminOptions): Place {
  const cwd = process.cwd();
  const opened = openConfig({ path: config, cwd, environment: process.env });
  const dataDirectory = dataDirectoryOf(opened);
  if (adminUrl !== undefined) return { url: checkedUrl(adminUrl), dataDirectory };
  const isNamed = (process.env["SLUICE_ADMIN_PORT"] ?? "") !== "";
  const running = isNamed ? undefined : readRunning(dataDirectory);
  if (running !== undefined) {
    const certificate =
      running.certificate === undefined ? undefined : readCertificate(running.certificate);
    return { url: reachableUrl(running.adminUrl), dataDirectory, certificate };
  }
  const { gateway, findings, path } = opened;
  if (gateway === undefined || !isObject(gateway.value)) {
    const reason =
      findings[0] === undefined ? `${path} holds no configuration` : formatFinding(findings[0]);
    throw nowhere(reason, dataDirectory);
  }
  const section = (gateway.value as JsonObject)["server"] ?? {};
  const { overrides, findings: faults } = readOverrides(
    process.env,
    gateway.document.keyAt(["server"]),
  );
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
  return {
    url: `https://${address}`,
    dataDirectory,
    certificate: readCertificate(resolve(dirname(path), tls.certificate)),
  };
}

function nowhere(reason: string, dataDirectory: string): CommandError {
  const hint = `no gateway runs on the data folder ${dataDirectory}; name the file with --config, or the admin listener with --admin-url`;
  return new CommandError(EXIT.usage, `${reason} (${hint})`);
}

/** A reachable address for the address of a listener. */
function reachableUrl(text: string): string {
  const url = new URL(text);
  return `${url.protocol}//${reachable(url.hostname.replace(/^\[|\]$/g, ""))}:${url.port}`;
}

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandError(
      EXIT.usage,
      `--admin-url ${text} is no address; write it as http://127.0.0.1:4001.`,
    );
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
    throw new CommandError(
      EXIT.notStarted,
      `server.tls.certificate ${path} cannot be read (${errorReason(error)}).`,
    );
  }
}

/** The master key: the one that the environment gives, or that of the data folder. */
export function masterKeyOf(dataDirectory: string): string {
  const given = givenOrRefuse();
  if (given !== undefined) return given;
  const path = join(dataDirectory, "master.key");
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    if (!existsSync(dataDirectory)) {
      const message = `There is no data folder ${dataDirectory}: it was moved or removed, or no gateway has started here. Put it back, or set SLUICE_MASTER_KEY.`;
      throw new CommandError(EXIT.notStarted, message);
    }
    throw new CommandError(
      EXIT.notStarted,
      `No master key: set SLUICE_MASTER_KEY, or run this where ${path} can be read.`,
    );
  }
}

function givenOrRefuse(): string | undefined {
  try {
    return givenMasterKey(process.env)?.key;
  } catch (error) {
    throw new CommandError(EXIT.notStarted, errorReason(error));
  }
}
