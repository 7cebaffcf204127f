/** The ports of a gateway: free, or held by it already. */

import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { type JsonObject, type JsonValue, errorReason } from "@sluice/contract";
import type { ServerSettings, TlsSettings } from "@sluice/engine/config";
import type { Check } from "@sluice/engine/doctor";
import { isObject } from "@sluice/kit";
import { sendRequest } from "./send-request.ts";

const ASK_MS = 2_000;

/** What was found at the ports. */
export interface Ports {
  readonly checks: readonly Check[];
  /** Whether a gateway answers: it has the store open. */
  readonly isRunning: boolean;
}

/** Checks that the ports are free, or that a gateway holds them. */
export async function checkPorts({
  host,
  port,
  admin,
  tls,
}: Pick<ServerSettings, "host" | "port" | "admin" | "tls">): Promise<Ports> {
  const isRunning = port !== 0 && (await answers(host, port, tls));
  const checks: Check[] = [];
  for (const [what, address] of [
    ["port", { host, port }] as const,
    ["admin port", admin] as const,
  ]) {
    const named = `${address.host}:${address.port}`;
    if (address.port === 0)
      checks.push({ name: what, grade: "ok", found: `${named}: any free one` });
    else if (isRunning)
      checks.push({
        name: what,
        grade: "ok",
        found: what === "port" ? `${named}: a gateway answers` : named,
      });
    else checks.push(await free(what, address.host, address.port));
  }
  return { checks, isRunning };
}

async function free(name: string, host: string, port: number): Promise<Check> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
    return { name, grade: "ok", found: `${host}:${port} is free` };
  } catch (error) {
    const reason = errorReason(error);
    const what =
      reason === "EADDRINUSE" ? "is in use by something else" : `cannot be listened on (${reason})`;
    const variable = name === "port" ? "SLUICE_PORT" : "SLUICE_ADMIN_PORT";
    return {
      name,
      grade: "fail",
      found: `${host}:${port} ${what}`,
      fix: `End what holds it, or name another one: ${variable}, or server in gateway.yaml.`,
    };
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

async function answers(host: string, port: number, tls: TlsSettings | undefined): Promise<boolean> {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host;
  try {
    const certificate = tls === undefined ? undefined : readFileSync(tls.certificate, "utf8");
    const url = `${tls === undefined ? "http" : "https"}://${reachable}:${port}/health/live`;
    const { status, json } = await sendRequest(
      url,
      { method: "GET", headers: {}, timeoutMs: ASK_MS },
      certificate,
    );
    return status === 200 && isObject(json as JsonValue) && (json as JsonObject)["status"] === "ok";
  } catch {
    return false;
  }
}
