/** The step `idempotency`: a repeat under the same `Idempotency-Key` gets the first one's result, and costs nothing. */

import { hash } from "node:crypto";
import { defineStep, parseDuration } from "@sluice/kit";
import { type Begun, type Exchange, GatewayError, type Host } from "@sluice/spec";
import { servedFrom } from "./cache-entry.ts";
import { keepsNothing } from "./cache-wish.ts";
import { CanonicalDigest } from "./canonical-digest.ts";
import { recordReply, replyOfRecord } from "./idempotency-record.ts";
import { waitFor } from "./retry-wait.ts";

/** Options of the step `idempotency`, as YAML says them. */
export interface IdempotencyConfig {
  readonly ttl: string;
}

const HEADER = "idempotency-key";
/** Says that a reply is a repeat. */
const REPLAY_HEADER = "idempotent-replayed";
const MAX_KEY_CHARACTERS = 255;
/** The owner's hold on a key outlives its deadline by this: what it does after its reply. */
const LEASE_GRACE_MS = 60_000;
/** How often a repeat looks whether the first one is done: at first, and at most. */
const FIRST_LOOK_MS = 10;
const LATEST_LOOK_MS = 500;

const NO_FIELDS: ReadonlySet<string> = new Set();

export const idempotency = defineStep<IdempotencyConfig>({
  name: "idempotency",
  sharesState: true,
  stability: "beta",
  summary: "Gives a request that repeats an `Idempotency-Key` the result of the first one, whole or streamed, for nothing.",
  config: {
    type: "object",
    properties: {
      ttl: {
        type: "string",
        format: "duration",
        default: "24h",
        description: "How long a result is kept for repeats.",
        examples: ["1h"],
      },
    },
  },
  check({ ttl }) {
    if (parseDuration(ttl) !== 0) return [];
    return [{ path: ["ttl"], message: "no result would be kept for a repeat", fix: "write `1m` or more, or remove the step" }];
  },
  operations: ["chat", "embeddings", "images", "passthrough"],
  provides: ["repeat"],
  requires: [{ capability: "identity", reason: "a result belongs to the key that asked for it" }],
  before: [
    { capability: "cached_reply", reason: "a repeat is not another request" },
    { capability: "fallback", reason: "a repeat is not another request" },
    { capability: "hedge", reason: "a repeat is not another request" },
    { capability: "target", reason: "a repeat is not another request" },
    { capability: "retry", reason: "a repeat is not another request" },
  ],
  create(config, host) {
    const ttlMs = parseDuration(config.ttl) ?? 0;
    const { records } = host.state;
    return {
      enter: ({ client, identity }) => client.header(HEADER) !== undefined && identity !== undefined && !keepsNothing(identity),
      async run({ exchange }, next) {
        const key = recordKey(exchange);
        const bodyDigest = digestOf(exchange);
        const first = await begin(exchange, key, bodyDigest, host);
        if (first.outcome === "conflict") {
          throw new GatewayError("idempotency_conflict", "This idempotency-key was used with another request.", {
            param: HEADER,
          });
        }
        if (first.outcome === "done" && replay(exchange, first.bytes, host)) return;
        let recorded: (() => Uint8Array | undefined) | undefined;
        exchange.onSettle(() => {
          const result = recorded?.();
          const kept =
            result === undefined ? records.abandon(key, exchange.id) : records.complete(key, exchange.id, result, ttlMs);
          if (kept instanceof Promise) {
            kept.catch((error: unknown) => host.log.warn("the result of a request could not be kept for repeats", { error }));
          }
        });
        await next();
        recorded = recordReply(exchange, host.clock);
      },
    };
  },
});

/** Asks until this exchange is the first, or the first one is done. Throws when its own time is up before. */
async function begin(exchange: Exchange, key: string, bodyDigest: string, { state, clock }: Host): Promise<Begun> {
  const { records } = state;
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 2, LATEST_LOOK_MS)) {
    const leaseMs = Math.max(0, exchange.deadlineMs - clock.monotonic()) + LEASE_GRACE_MS;
    const soon = records.begin(key, bodyDigest, exchange.id, leaseMs);
    const begun = soon instanceof Promise ? await soon : soon;
    if (begun.outcome !== "running") return begun;
    await waitFor(waitMs, exchange.signal);
  }
}

/** Answers with a kept result. Returns whether it could be read. */
function replay(exchange: Exchange, bytes: Uint8Array, { clock }: Host): boolean {
  const result = replyOfRecord(bytes);
  if (result === undefined) return false;
  exchange.headers.set(REPLAY_HEADER, "true");
  exchange.note("idempotency", "a repeat, answered with the first result");
  exchange.served = servedFrom(result, exchange.model, exchange.startedAtMs, clock.now());
  exchange.reply = result.reply;
  return true;
}

/** What a repeat is found by. Throws `invalid_header` for a header that cannot be kept. */
function recordKey({ client, identity }: Exchange): string {
  const named = client.header(HEADER) ?? "";
  if (named.length > 0 && named.length <= MAX_KEY_CHARACTERS) {
    return `repeat:${encodeURIComponent(identity?.keyId ?? "")}:${hash("sha256", named, "base64url")}`;
  }
  throw new GatewayError("invalid_header", `The header ${HEADER} must have 1 to ${MAX_KEY_CHARACTERS} characters.`, {
    param: HEADER,
  });
}

/** Everything that a request says: where it goes and what it holds. */
function digestOf({ client, request }: Exchange): string {
  const digest = new CanonicalDigest().text(client.method).text(client.path).text(client.query);
  if (request === undefined) return digest.end();
  // A native body may be anything: its bytes count.
  if (request.raw !== undefined) return digest.text(hash("sha256", request.raw, "base64url")).end();
  return digest.document(request.document, NO_FIELDS).text(JSON.stringify(request.fields)).end();
}
