/** Signatures: AWS Signature Version 4 over the bytes that are sent. */

import { createHash, createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { type Clock, type HttpCall, Secret } from "@sluice/contract";
import type { CredentialSource } from "./credentials.ts";

/** The name that signatures are made for; the API's endpoints are called otherwise. */
const SERVICE = "bedrock";

/**
 * Signs calls with the present result of `credentials`. Headers that a proxy may change are not
 * signed.
 */
export function createSigner(
  region: string,
  credentials: CredentialSource,
  clock: Clock,
): (call: HttpCall) => Promise<HttpCall> {
  // Loaded with the first signer: an API key needs none.
  const { SignatureV4 } = createRequire(import.meta.url)(
    "@smithy/signature-v4",
  ) as typeof import("@smithy/signature-v4");
  const signer = new SignatureV4({ service: SERVICE, region, credentials, sha256: Sha256 });
  return async (call) => {
    const url = new URL(call.url);
    const type = call.headers["content-type"];
    const request = {
      method: call.method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: queryOf(url.searchParams),
      headers: { host: url.host, ...(typeof type === "string" ? { "content-type": type } : {}) },
      body: call.body,
    };
    const signed = await signer.sign(request, { signingDate: new Date(clock.now()) });
    const headers: Record<string, string | Secret> = { ...call.headers };
    for (const [name, value] of Object.entries(signed.headers)) {
      // The transport writes the host itself.
      if (name !== "host") headers[name] = HIDDEN.has(name) ? new Secret(name, value) : value;
    }
    return { ...call, headers };
  };
}

const HIDDEN = new Set(["authorization", "x-amz-security-token"]);

function queryOf(parameters: URLSearchParams): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  for (const name of new Set(parameters.keys())) query[name] = parameters.getAll(name);
  return query;
}

type Source = string | ArrayBuffer | ArrayBufferView;

/** SHA-256 and its HMAC by Node's own crypto, in the shape that the signer asks for. */
class Sha256 {
  readonly #secret: Uint8Array | undefined;
  #hash: { update(bytes: Uint8Array): unknown; digest(): Uint8Array };

  constructor(secret?: Source) {
    this.#secret = secret === undefined ? undefined : bytesOf(secret);
    this.#hash = this.#begin();
  }

  update(data: Source): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#begin();
  }

  #begin(): { update(bytes: Uint8Array): unknown; digest(): Uint8Array } {
    return this.#secret === undefined ? createHash("sha256") : createHmac("sha256", this.#secret);
  }
}

function bytesOf(data: Source): Uint8Array {
  if (typeof data === "string") return Buffer.from(data, "utf8");
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
