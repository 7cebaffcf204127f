/**
 * Talks to the admin listener of the running gateway, so that one process alone has the store open.
 */

import { type JsonObject, errorReason } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { AdminOptions } from "./admin-place.ts";
import { withCommands } from "./command-names.ts";
import { CommandError, EXIT } from "./exit.ts";
import { type Reply, sendRequest } from "./send-request.ts";

export type { AdminOptions } from "./admin-place.ts";

/** Asks the gateway: with a body by POST, without one by GET. */
export type AskAdmin = (path: string, body?: JsonObject) => Promise<unknown>;

const TIMEOUT_MS = 15_000;

/**
 * A function that asks the gateway. It rejects with a CommandError without an address or a master
 * key.
 */
export function adminClient(options: AdminOptions, timeoutMs = TIMEOUT_MS): AskAdmin {
  const ask = adminReplies(options, timeoutMs);
  return async (path, body) => (await ask(path, body, true)).json;
}

/**
 * As `adminClient`, for answers of any media type. `mustBeJson`: an answer that is none is not the
 * gateway's.
 */
export function adminReplies(
  options: AdminOptions,
  timeoutMs = TIMEOUT_MS,
): (path: string, body?: JsonObject, mustBeJson?: boolean) => Promise<Reply> {
  let reached: ReturnType<typeof reach> | undefined;
  return async (path, body, mustBeJson = false) => {
    const { url, certificate, headers } = await (reached ??= reach(options));
    const call =
      body === undefined
        ? { method: "GET" as const, headers, timeoutMs }
        : { method: "POST" as const, headers, timeoutMs, body: JSON.stringify(body) };
    const reply = await sendRequest(`${url}${path}`, call, certificate).catch((error: unknown) => {
      throw new CommandError(
        EXIT.notStarted,
        `No gateway answers at ${url} (${errorReason(error)}): start it with sluice serve, or name its admin listener with --admin-url.`,
      );
    });
    const { status, json } = reply;
    if (status === 200 && (json !== undefined || !mustBeJson)) return reply;
    throw refusal(url, status, json);
  };
}

async function reach(options: AdminOptions) {
  const { masterKeyOf, placeOf } = await import("./admin-place.ts");
  const { url, dataDirectory, certificate } = placeOf(options);
  const headers = {
    authorization: `Bearer ${masterKeyOf(dataDirectory)}`,
    "content-type": "application/json",
    // An extension may answer in another product's form.
    "x-sluice-routes": "own",
  };
  return { url, certificate, headers };
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
    return new CommandError(
      EXIT.findings,
      `The gateway at ${url} has another master key: set SLUICE_MASTER_KEY to it.`,
    );
  }
  return new CommandError(EXIT.findings, withCommands(error["message"]));
}
