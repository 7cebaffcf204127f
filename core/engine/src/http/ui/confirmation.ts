/** Proofs that the key of a session was entered again. The store has none of them. */

import { timingSafeEqual } from "node:crypto";
import type { Clock, SessionRecord } from "@sluice/contract";
import type { KeyRing } from "../../resources/key-ring.ts";
import { MASTER } from "../access/authenticate.ts";

/** How long an entered key counts for dangerous changes. */
const CONFIRMED_MS = 5 * 60_000;

/** What a browser sends with dangerous changes. */
export interface Confirmation {
  readonly value: string;
  readonly untilMs: number;
}

interface Parts {
  readonly keyRing: Pick<KeyRing, "digest" | "fingerprint">;
  readonly clock: Pick<Clock, "now">;
}

/**
 * What shows for five minutes that the holder of a session has entered its key again; `undefined`
 * for another key than the one that opened it.
 */
export function confirm(
  record: SessionRecord,
  token: string,
  key: string,
  { keyRing, clock }: Parts,
): Confirmation | undefined {
  const isMaster = record.actor === MASTER.keyId;
  const credential = keyRing.digest(isMaster ? keyRing.fingerprint(key) : key);
  if (!isSame(credential, record.credential)) return undefined;
  const untilMs = clock.now() + CONFIRMED_MS;
  return { value: `${untilMs}.${proofOf(untilMs, token, keyRing)}`, untilMs };
}

/** Whether a value is one that `confirm` gave to a session within the last five minutes. */
export function isConfirmed(token: string, value: string, { keyRing, clock }: Parts): boolean {
  const [time = "", proof = ""] = value.split(".", 2);
  if (!/^\d{1,15}$/.test(time) || clock.now() >= Number(time)) return false;
  return isSame(proof, proofOf(Number(time), token, keyRing));
}

function proofOf(untilMs: number, token: string, keyRing: Parts["keyRing"]): string {
  return keyRing.digest(`confirm:${untilMs}:${token}`);
}

function isSame(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}
