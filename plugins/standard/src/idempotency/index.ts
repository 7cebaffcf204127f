/**
 * The step `idempotency`: a repeated `Idempotency-Key` gets the result of the first request, at no
 * cost.
 */

import { REPLY_ORIGIN, SERVED } from "@sluice/runtime";
import { hash } from "node:crypto";
import { defineStep, parseDuration } from "@sluice/kit";
import { answerHeaderNames, sentHeaders } from "@sluice/runtime/transport";
import {
  type Begun,
  type Exchange,
  GatewayError,
  type Host,
  type ProviderCatalog,
} from "@sluice/contract";
import { servedFrom } from "../cache/entry.ts";
import { keepsNothing } from "../cache/directives.ts";
import { CanonicalDigest } from "../cache/canonical-digest.ts";
import { recordReply, replyOfRecord } from "./record.ts";
import { nativeHeaderNames } from "../passthrough/request.ts";
import { waitFor } from "../retry/wait.ts";

/** Options of the step `idempotency` as YAML has them. */
export interface IdempotencyConfig {
  readonly ttl: string;
}

const HEADER = "idempotency-key";
/** The header that marks a repeated reply. */
const REPLAY_HEADER = "idempotent-replayed";
const MAX_KEY_CHARACTERS = 255;
/** The owner's lock outlives its deadline by this, for its work after the reply. */
const LEASE_GRACE_MS = 60_000;
/** The interval at which a repeat checks the first request: at first, and at most. */
const FIRST_LOOK_MS = 10;
const LATEST_LOOK_MS = 500;

const NO_FIELDS: ReadonlySet<string> = new Set();

export const idempotency = defineStep<IdempotencyConfig>({
  name: "idempotency",
  stability: "beta",
  summary:
    "Answers a request with a repeated `Idempotency-Key` with the result of the first one, whole or streamed, at no cost.",
  config: {
    type: "object",
    properties: {
      ttl: {
        type: "string",
        format: "duration",
        default: "24h",
        description: "Lifetime of a stored result.",
        examples: ["1h"],
      },
    },
  },
  check({ ttl }) {
    if (parseDuration(ttl) !== 0) return [];
    return [
      {
        path: ["ttl"],
        message: "no result would be stored",
        fix: "write `1m` or more, or remove the step",
      },
    ];
  },
  operations: ["chat", "embeddings", "images", "passthrough"],
  traits: { sharesState: true },
  order: {
    provides: ["repeat"],
    requires: [{ capability: "identity", reason: "a result belongs to the key of its request" }],
    before: [
      { capability: "cached_reply", reason: "a repeat is not another request" },
      { capability: "fallback", reason: "a repeat is not another request" },
      { capability: "hedge", reason: "a repeat is not another request" },
      { capability: "target", reason: "a repeat is not another request" },
      { capability: "retry", reason: "a repeat is not another request" },
    ],
  },
  create(config, host) {
    const ttlMs = parseDuration(config.ttl) ?? 0;
    const { records } = host.state;
    const headersOf = createHeaderLists(host.providers);
    return {
      enter: ({ client, identity }) =>
        client.header(HEADER) !== undefined && identity !== undefined && !keepsNothing(identity),
      async run({ exchange }, next) {
        const key = recordKey(exchange);
        const bodyDigest = digestOf(exchange, headersOf(exchange));
        const first = await begin(exchange, key, bodyDigest, host);
        if (first.outcome === "conflict") {
          throw new GatewayError(
            "idempotency_conflict",
            "This idempotency-key was used with another request. Send a new key.",
            {
              param: HEADER,
            },
          );
        }
        if (first.outcome === "done" && replay(exchange, first.bytes, host)) return;
        let recorded: (() => Uint8Array | undefined) | undefined;
        exchange.lifetime.onSettle(() => {
          const result = recorded?.();
          const kept =
            result === undefined
              ? records.abandon(key, exchange.id)
              : records.complete(key, exchange.id, result, ttlMs);
          if (kept instanceof Promise) {
            kept.catch((error: unknown) =>
              host.log.warn("the result of a request could not be stored for repeats", { error }),
            );
          }
        });
        await next();
        recorded = recordReply(exchange, host.clock);
      },
    };
  },
});

/** Polls until this exchange owns the key or the first one is done. Throws at its own deadline. */
async function begin(
  exchange: Exchange,
  key: string,
  bodyDigest: string,
  { state, clock }: Host,
): Promise<Begun> {
  const { records } = state;
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 2, LATEST_LOOK_MS)) {
    const leaseMs = Math.max(0, exchange.lifetime.deadlineMs - clock.monotonic()) + LEASE_GRACE_MS;
    const soon = records.begin(key, bodyDigest, exchange.id, leaseMs);
    const begun = soon instanceof Promise ? await soon : soon;
    if (begun.outcome !== "running") return begun;
    await waitFor(waitMs, exchange.signal);
  }
}

/** Answers with a stored result. Returns whether it could be read. */
function replay(exchange: Exchange, bytes: Uint8Array, { clock }: Host): boolean {
  const result = replyOfRecord(bytes);
  if (result === undefined) return false;
  exchange.headers.set(REPLAY_HEADER, "true");
  exchange.note("idempotency", "a repeat, answered with the first result");
  SERVED.set(
    exchange,
    servedFrom(result, exchange.model, exchange.lifetime.startedAtMs, clock.now()),
  );
  if (result.head.origin !== undefined) REPLY_ORIGIN.set(exchange, result.head.origin);
  exchange.reply = result.reply;
  return true;
}

/** The key of a repeat. Throws `invalid_header` for a header with too many characters. */
function recordKey({ client, identity }: Exchange): string {
  const named = client.header(HEADER) ?? "";
  if (named.length > 0 && named.length <= MAX_KEY_CHARACTERS) {
    return `repeat:${encodeURIComponent(identity?.keyId ?? "")}:${hash("sha256", named, "base64url")}`;
  }
  throw new GatewayError(
    "invalid_header",
    `The header ${HEADER} must have 1 to ${MAX_KEY_CHARACTERS} characters.`,
    {
      param: HEADER,
    },
  );
}

/**
 * The names of client headers that any upstream of an operation receives. The target is not chosen
 * yet.
 */
function createHeaderLists(providers: ProviderCatalog): (exchange: Exchange) => readonly string[] {
  const all = providers.names().map((name) => providers.find(name));
  const passed = answerHeaderNames(all);
  const native = new Set([
    ...passed,
    ...all.flatMap((provider) => nativeHeaderNames(provider?.translation.native)),
  ]);
  const ofNative = [...native].toSorted();
  return ({ operation }) => (operation === "passthrough" ? ofNative : passed);
}

/** The digest input of a request: its path, its body, and the headers that an upstream receives. */
function digestOf(exchange: Exchange, headerNames: readonly string[]): string {
  const { client, request } = exchange;
  const digest = new CanonicalDigest().text(client.method).text(client.path).text(client.query);
  const headers = sentHeaders(exchange, headerNames);
  if (headers.length > 0) digest.text("headers").value(headers);
  if (request === undefined) return digest.end();
  // A native body may be anything: its bytes count.
  if (request.raw !== undefined) return digest.text(hash("sha256", request.raw, "base64url")).end();
  digest.document(request.document, NO_FIELDS).text(JSON.stringify(request.fields));
  // A client's own document may say more than its translation.
  const { native } = request;
  if (native !== undefined) digest.value(native.headers).document(native.document, NO_FIELDS);
  return digest.end();
}
