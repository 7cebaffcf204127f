/** An exchange for tests of steps and providers. */

import type { Attempt, ClientRequest, Exchange, GatewayRequest, Identity, JsonObject, Target } from "@sluice/spec";
import { openAttempt } from "../attempt.ts";
import { writtenDocument } from "../json/document.ts";

/** An exchange whose members a test may set. `receive` does nothing unless the test gives one. */
export function fakeExchange(parts: Partial<Exchange> = {}): Exchange {
  const attempts: Attempt[] = [];
  return {
    id: "01900000-0000-7000-8000-000000000001",
    operation: "chat",
    client: fakeClient(),
    generation: 1,
    signal: new AbortController().signal,
    deadlineMs: 600_000,
    startedAtMs: Date.UTC(2026, 0, 1),
    receive: async () => undefined,
    request: undefined,
    identity: undefined,
    model: undefined,
    target: undefined,
    reply: undefined,
    pricer: undefined,
    served: undefined,
    isStorable: true,
    abortBilling: undefined,
    ambiguousBilling: undefined,
    attempts,
    beginAttempt(target, provider) {
      const attempt = fakeAttempt({ number: attempts.length + 1, target, model: this.model, provider });
      attempts.push(attempt);
      return attempt;
    },
    gates: [],
    onSettle: () => undefined,
    note: () => undefined,
    guardrails: [],
    headers: new Map(),
    state: new Map(),
    ...parts,
  };
}

/** A client's request with these headers, lower-case names. */
export function fakeClient(headers: Readonly<Record<string, string>> = {}, parts: Partial<ClientRequest> = {}): ClientRequest {
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

/** An attempt that has just begun. */
export function fakeAttempt(parts: Partial<Attempt> = {}): Attempt {
  return {
    ...openAttempt({ number: 1, target: fakeTarget(), provider: "openai", startedAtMs: Date.UTC(2026, 0, 1) }),
    ...parts,
  };
}
