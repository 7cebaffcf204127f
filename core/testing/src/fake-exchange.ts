/** An exchange for tests of steps and providers. */

import type {
  Attempt,
  AttemptWriter,
  ClientRequest,
  Exchange,
  GatewayRequest,
  Identity,
  JsonObject,
  Lifetime,
  Target,
} from "@sluice/contract";
import {
  BILLING,
  type Billing,
  type ExchangeServices,
  openAttempt,
  SERVICES,
} from "@sluice/runtime";
import { writtenDocument } from "@sluice/kit/internals";

/**
 * Members of a fake exchange; those of its lifetime and of the engine's side may be given by
 * themselves.
 */
export interface FakeExchangeParts extends Partial<Exchange>, Partial<Lifetime> {
  /** Called when the body is asked for; it may set `request`. Default: nothing. */
  readonly receive?: (exchange: Exchange) => Promise<void>;
  /** Opens the record of an upstream call; it is listed afterwards. */
  readonly openAttempt?: ExchangeServices["openAttempt"];
  readonly hold?: ExchangeServices["hold"];
  readonly billing?: Billing;
}

/** An exchange whose members a test may set. */
export function fakeExchange(parts: FakeExchangeParts = {}): Exchange {
  const {
    startedAtMs,
    deadlineMs,
    onSettle,
    receive,
    openAttempt: open,
    hold,
    billing,
    ...members
  } = parts;
  const attempts: Attempt[] = [...(members.attempts ?? [])];
  const exchange: Exchange = {
    id: "01900000-0000-7000-8000-000000000001",
    operation: "chat",
    client: fakeClient(),
    lifetime: {
      startedAtMs: startedAtMs ?? Date.UTC(2026, 0, 1),
      deadlineMs: deadlineMs ?? 600_000,
      onSettle: onSettle ?? (() => undefined),
    },
    signal: new AbortController().signal,
    request: undefined,
    identity: undefined,
    model: undefined,
    target: undefined,
    reply: undefined,
    note: () => undefined,
    headers: new Map(),
    slots: [],
    ...members,
    attempts,
  };
  BILLING.set(exchange, billing);
  SERVICES.set(exchange, {
    hold,
    readBody: async () => {
      await receive?.(exchange);
      return exchange.request;
    },
    openAttempt(asking, target, provider, document, admission) {
      const attempt =
        open?.(asking, target, provider, document, admission) ??
        fakeAttempt({
          number: attempts.length + 1,
          target,
          model: asking.model,
          provider,
          admission,
        });
      attempts.push(attempt);
      return attempt;
    },
  });
  return exchange;
}

/** A client's request with these headers, lower-case names. */
export function fakeClient(
  headers: Readonly<Record<string, string>> = {},
  parts: Partial<ClientRequest> = {},
): ClientRequest {
  return {
    method: "POST",
    path: "/v1/chat/completions",
    query: "",
    parameters: {},
    header: (name) => headers[name],
    address: "127.0.0.1",
    ...parts,
  };
}

/** A received chat request with this body. */
export function fakeRequest(body: JsonObject, parts: Partial<GatewayRequest> = {}): GatewayRequest {
  return {
    document: writtenDocument(body),
    fields: {},
    model: typeof body.model === "string" ? body.model : "",
    stream: body.stream === true,
    includeUsage: false,
    endUser: null,
    tags: [],
    metadata: {},
    ...parts,
  };
}

/** A virtual key's identity that may use every model. */
export function fakeIdentity(parts: Partial<Identity> = {}): Identity {
  return {
    kind: "key",
    keyId: "key-1",
    alias: undefined,
    userId: undefined,
    teamId: undefined,
    models: [],
    spendScope: "key",
    tags: [],
    metadata: {},
    ...parts,
  };
}

/** A target called `provider/model`. */
export function fakeTarget(provider = "openai", model = "gpt-4o-mini"): Target {
  return { id: `${provider}/${model}`, provider, model };
}

/** An attempt in the state that `parts` describe: without them, one that has just begun. */
export function fakeAttempt(parts: Partial<Attempt> = {}): AttemptWriter {
  const attempt = openAttempt({
    number: 1,
    target: fakeTarget(),
    provider: "openai",
    startedAtMs: Date.UTC(2026, 0, 1),
  });
  return Object.assign(attempt, parts);
}
