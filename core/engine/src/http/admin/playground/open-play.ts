/** Sends one request of the playground to the public listener of the same process. */

import type { IncomingMessage, RequestListener } from "node:http";
import { GatewayError, type JsonObject } from "@sluice/contract";
import type { Played, Plays } from "../../../resources/tenants/plays.ts";
import { StreamAnswer } from "../../access/route.ts";
import { insideOf } from "../../extensions/inside.ts";
import { openInMemory } from "../../in-memory.ts";
import { playedBy } from "./played-messages.ts";

/** A request. */
export interface Play {
  readonly method: string;
  readonly path: string;
  /** For `x-sluice-played`, which says that the answer is the route's own, whatever its status. */
  readonly operation: string;
  readonly body: JsonObject;
  readonly played: Played;
}

/** What sends it. */
export interface PlayParts {
  /** The public listener of this process; `undefined` until it is made. */
  readonly listener: RequestListener | undefined;
  readonly plays: Plays;
  /** Ends the request: its caller left. */
  readonly signal: AbortSignal;
}

/** Headers of the reply that the caller sees. */
const SHOWN = /^(?:x-sluice-.+|x-request-id|x-upstream-request-id|retry-after)$/;

/**
 * The reply, as the route writes it. None of the caller's headers goes along: the request has a
 * credential of its own, which is used up before its body is read. Throws `overloaded`.
 */
export async function openPlay(
  { method, path, operation, body, played }: Play,
  { listener, plays, signal }: PlayParts,
): Promise<StreamAnswer> {
  if (listener === undefined)
    throw new GatewayError("overloaded", "The public listener of this process is not open.");
  const credential = plays.open(played);
  try {
    const { reply, close } = await openInMemory(
      playedBy(insideOf(listener)),
      {
        method,
        target: path,
        headers: {
          authorization: `Bearer ${credential}`,
          "content-type": "application/json",
          "user-agent": "sluice-playground",
        },
        body: JSON.stringify(body),
      },
      signal,
    );
    return new StreamAnswer(
      reply.statusCode ?? 500,
      { ...shown(reply), "x-sluice-played": operation },
      reply,
      close,
    );
  } finally {
    plays.close(credential);
  }
}

function shown({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && SHOWN.test(entry[0]),
  );
  return { ...Object.fromEntries(kept), "content-type": headers["content-type"] ?? "" };
}
