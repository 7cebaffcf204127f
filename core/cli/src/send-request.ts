/**
 * One request to a listener of the gateway, by HTTP or by HTTPS with the certificate that the
 * configuration names.
 */

import { request as httpsRequest } from "node:https";
import { parseJson } from "@sluice/kit";

/** What is sent. */
export interface Call {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

/** What came back; `json` is undefined where the body is none. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
  /** The value of a header, by its name in lower case. */
  readonly header: (name: string) => string | undefined;
}

type Received = Omit<Reply, "json">;

/**
 * Sends it. `certificate` is the PEM that the listener was configured with: it is trusted by
 * itself, whatever name it has, because a command talks to the gateway of its own configuration
 * file. Rejects when nothing answers in time.
 */
export async function sendRequest(
  url: string,
  call: Call,
  certificate: string | undefined,
): Promise<Reply> {
  const received =
    certificate === undefined
      ? await sendPlain(url, call)
      : await sendPinned(url, call, certificate);
  return { ...received, json: parsed(received.text) };
}

async function sendPlain(
  url: string,
  { method, headers, body, timeoutMs }: Call,
): Promise<Received> {
  const response = await fetch(url, {
    method,
    // A redirect would carry the master key elsewhere.
    redirect: "error",
    headers,
    signal: AbortSignal.timeout(timeoutMs),
    ...(body !== undefined && { body }),
  });
  return {
    status: response.status,
    text: await response.text().catch(() => ""),
    header: (name) => response.headers.get(name) ?? undefined,
  };
}

function sendPinned(
  url: string,
  { method, headers, body, timeoutMs }: Call,
  certificate: string,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      url,
      {
        method,
        headers,
        ca: certificate,
        allowPartialTrustChain: true,
        checkServerIdentity: () => undefined,
        agent: false,
        signal: AbortSignal.timeout(timeoutMs),
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        const header = (name: string): string | undefined => response.headers[name]?.toString();
        response.once("end", () => resolve({ status: response.statusCode ?? 0, text, header }));
        response.once("error", reject);
      },
    );
    request.once("error", reject);
    request.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
