/**
 * Requests that the supervisor of several workers passes on: it proves that they are its own, with
 * the secret of the installation, and names the client's address.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { BrowserPlace } from "../ui/browser-place.ts";

const PROOF = "x-sluice-supervisor";
const ADDRESS = "x-sluice-supervisor-client";
const AUDITED = "x-sluice-supervisor-audited";
const MASTER = "x-sluice-supervisor-master";
const ORIGIN = "x-sluice-supervisor-origin";
const PRIVATE = "x-sluice-supervisor-private";

/** What the supervisor says about a request. */
export interface Forwarded {
  /** The address of the client; `null` when it is gone. */
  readonly address: string | null;
  /** Another worker writes the line of the audit. */
  readonly isAudited: boolean;
  /** The supervisor knows the key as the master key, which the worker may not know yet. */
  readonly isMaster: boolean;
  /** What a browser calls the supervisor's listener. Absent: the supervisor itself asks. */
  readonly place?: BrowserPlace | undefined;
}

/** What a supervisor and its workers share. `pepper` is the secret of the installation. */
export function supervisorProof(pepper: Buffer): string {
  return createHmac("sha256", pepper).update("the supervisor of the workers").digest("base64url");
}

/** Headers of a request that is passed on. */
export function forwardingHeaders(
  proof: string,
  { address, isAudited, isMaster, place }: Forwarded,
): Readonly<Record<string, string>> {
  return {
    [PROOF]: proof,
    ...(address !== null && { [ADDRESS]: address }),
    ...(isAudited && { [AUDITED]: "1" }),
    ...(isMaster && { [MASTER]: "1" }),
    ...(place !== undefined && { [ORIGIN]: place.origin }),
    ...(place?.isPrivate === true && { [PRIVATE]: "1" }),
  };
}

/** Whether a header is one of the supervisor's. A client's are not passed on. */
export function isForwardingHeader(name: string): boolean {
  return name.startsWith(PROOF);
}

/** What the supervisor says; `undefined` for a request that is not proven to be its own. */
export function forwardedBy(headers: IncomingHttpHeaders, proof: string): Forwarded | undefined {
  const given = Buffer.from(String(headers[PROOF] ?? ""));
  const wanted = Buffer.from(proof);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  const { [ADDRESS]: address, [ORIGIN]: origin } = headers;
  return {
    address: typeof address === "string" ? address : null,
    isAudited: headers[AUDITED] === "1",
    isMaster: headers[MASTER] === "1",
    ...(typeof origin === "string" && {
      place: { origin, isPrivate: headers[PRIVATE] === "1" },
    }),
  };
}
