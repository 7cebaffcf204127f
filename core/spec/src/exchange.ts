/** The exchange: one client request and its reply. */

import type { GatewayError } from "./error.ts";
import type { GuardrailOutcome } from "./guardrail.ts";
import type { JsonDocument } from "./json.ts";
import type { Identity } from "./identity.ts";
import type { Model } from "./model.ts";
import type { Operation } from "./operation.ts";
import type { Reply } from "./reply.ts";
import type { Soon } from "./shared-state.ts";
import type { Target } from "./target.ts";
import type { Cost, Usage, UsageSource } from "./usage.ts";

/** What the client sent, before any body. */
export interface ClientRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The query without the question mark. */
  readonly query: string;
  /** Values of the path pattern's parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  /** One request header, lower-case name. */
  header(name: string): string | undefined;
  readonly address: string | null;
}

/** Gateway-only fields of a request. They are consumed and never forwarded. */
export interface GatewayFields {
  readonly [name: string]: unknown;
}

/** A request body in the reference dialect, shape-checked. */
export interface GatewayRequest {
  readonly document: JsonDocument;
  /** The body as it came, on passthrough routes only: whatever it is, these bytes are forwarded. */
  readonly raw?: Uint8Array;
  /** Top-level members of `raw` that only gateways know: an inference endpoint does not get them. Absent: there are none. */
  readonly cut?: readonly string[];
  /** The gateway's own fields, taken out of the document. */
  readonly fields: GatewayFields;
  /** Guardrails that the client asks for, in addition. They exist. */
  readonly guardrails?: readonly string[];
  /** The model id the client asked for. */
  readonly model: string;
  /** Further ids to look for, in order, where `model` is none that the key may use: a deployment under its provider's prefix. */
  readonly otherModels?: readonly string[];
  /** What the client is willing to wait, in milliseconds from the start of the exchange. It only shortens the route's deadline. */
  readonly timeoutMs?: number;
  readonly stream: boolean;
  /** Whether a streaming client asked for a usage chunk. */
  readonly includeUsage: boolean;
  readonly endUser: string | null;
  /** Tags and metadata for the spend row. */
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** One upstream call. The one who dispatches it fills it in; the ledger makes a row of it. */
export interface Attempt {
  readonly number: number;
  readonly target: Target;
  /** The model that the exchange stood at: after a fallback, the one that stood in. */
  readonly model?: Model | undefined;
  /** The name under which the provider's models are priced: the plugin's, unless the provider says another. */
  readonly provider: string;
  readonly startedAtMs: number;
  firstContentAtMs: number | undefined;
  endedAtMs: number | undefined;
  /** Milliseconds spent waiting for the upstream, to its first content on a stream. */
  upstreamMs: number | undefined;
  /** `undefined` while it runs. */
  outcome: "success" | "failure" | "partial" | undefined;
  error: GatewayError | undefined;
  usage: Usage | undefined;
  usageSource: UsageSource | undefined;
  /**
   * What the reply has said so far, as texts to count the tokens of; for upstreams that tell no usage, and for replies that
   * were cut before they could. `undefined` where there is nothing to count.
   */
  replyTexts: (() => readonly string[]) | undefined;
  /** How many times as long as `replyTexts` the reply is, where those are a sample of a long one. Absent: they are all of it. */
  replyScale?: (() => number) | undefined;
  /** The usage that the upstream reported, where it cannot be true: `usage` is then an estimate. */
  suspectUsage?: Usage | undefined;
  /**
   * Whether the request was written to the upstream in full and nothing has come that says that it cost nothing, as a refusal
   * does. An attempt that fails so may have been billed: `isAmbiguous` of the kit.
   */
  isUnanswered?: boolean | undefined;
  /** The status of the upstream's response; `undefined` while none has come. */
  upstreamStatus?: number | undefined;
  /** Events of its stream that could not be read and were left out of the reply. Absent: none. */
  droppedEvents?: number | undefined;
  /**
   * What the upstream has reported of a reply that was cut before its total: the least that an estimate comes to. Absent: nothing.
   */
  leastUsage?: Usage | undefined;
  /** What was reserved under a budget: the usage of an attempt that can neither be read nor counted. Absent: nothing was. */
  reserved?: Usage | undefined;
  /** What it was asked, where that is a part of the request: some of its inputs. Absent: the request. */
  document?: JsonDocument | undefined;
  /** What it costs, by its row. Set as the row is made: before the exchange is settled. */
  cost?: Cost | undefined;
}

/**
 * Lets an upstream call through, or rejects with a GatewayError: before it is dispatched, for every attempt. `document` is the body
 * that will be sent. It answers without a promise where nothing waits. An error that is `retryable` means this target alone.
 */
export type Gate = (exchange: Exchange, target: Target, document: JsonDocument) => Soon<void>;

/**
 * What is billed of an attempt that the client did not wait for: what was observed of it, the longest output that it may have
 * had, its prompt alone, or nothing.
 */
export type AbortBilling = "observed" | "estimate_output" | "input_only" | "free";

/** What is billed of a call that was written to the upstream and then lost: its prompt, or nothing. */
export type AmbiguousBilling = "input_only" | "free";

/** Prices an attempt. The cost step sets it; without one, rows say `unpriced`. */
export type Pricer = (attempt: Attempt) => Cost;

/**
 * One client request and its reply. A step reads it, changes `request`, sets `reply`, and throws a GatewayError to
 * refuse. Everything set here ends with the exchange.
 */
export interface Exchange {
  /** UUIDv7, made by the gateway. */
  readonly id: string;
  readonly operation: Operation;
  readonly client: ClientRequest;
  /** Of a branch: the exchange that it belongs to. Its attempts are the parent's too; a branch lists its own. */
  readonly parent?: Exchange;
  readonly generation: number;
  /** Client gone, deadline passed or generation retired: one signal. Its reason is a GatewayError. */
  readonly signal: AbortSignal;
  /** When the exchange must have an answer, on the monotonic clock. */
  readonly deadlineMs: number;
  readonly startedAtMs: number;
  /** Reads and checks the body, once; later calls return the same promise. `request` is set afterwards. */
  receive(): Promise<void>;
  /** Set by `receive`; replaced by a step that changes what the upstream will see. */
  request: GatewayRequest | undefined;
  identity: Identity | undefined;
  model: Model | undefined;
  /** The target of the next attempt, when a step has chosen one; else the model's first is called. */
  target: Target | undefined;
  /** What answers. Setting what is no reply throws `Error`: the step fails. */
  reply: Reply | undefined;
  pricer: Pricer | undefined;
  /** How attempts are billed that the client left. The cost step sets it; without one nothing is said of it. */
  abortBilling: AbortBilling | undefined;
  /** How attempts are billed that were sent and lost. The cost step sets it; without one nothing is said of it. */
  ambiguousBilling: AmbiguousBilling | undefined;
  /**
   * The record of what was answered without an upstream call of this exchange's own, from a cache or beside a twin. A step that
   * does so sets it; it gets a row of its own, with number 0, which costs nothing and keeps the tokens.
   */
  served: Attempt | undefined;
  /**
   * Whether the reply may be kept for other requests. A step that changes or blocks what it guards sets it to false, for good;
   * what is kept is decided when the exchange is over.
   */
  isStorable: boolean;
  readonly attempts: readonly Attempt[];
  /** What every upstream call must pass first, in this order. Whoever dispatches asks them: `admit` of the kit. */
  readonly gates: Gate[];
  /**
   * Counts bytes that the exchange keeps until its reply is written: a whole reply. Returns false where the process has no room for
   * them, or the key no part of it; they must not be kept then. Absent where nothing is counted.
   */
  readonly hold?: ((bytes: number) => boolean) | undefined;
  /**
   * Opens the record of an upstream call. It is counted as dispatched from here on, also if the process is killed. `document`: what
   * it is asked, where that is a part of the request. Throws `overloaded` when spend rows cannot be stored: call no upstream then.
   */
  beginAttempt(target: Target, provider: string, document?: JsonDocument): Attempt;
  /**
   * Registers what is to happen when the exchange is over, however it ended: every attempt has its outcome, the rows are
   * recorded, and nothing is under way any more. Must not throw.
   */
  onSettle(settled: () => void): void;
  /**
   * Says what a step has decided, for `GET /requests/{id}`: its own name, a constant text, and what the text is about: an id, a
   * code, a number. Never what a client wrote beside a model's id. The texts are put together when somebody asks.
   */
  note(step: string, text: string, about?: string): void;
  /**
   * What guardrails did so far, ids only. It grows until the exchange is settled: a reply is fit for a cache when, by then, none
   * blocked, edited or failed.
   */
  readonly guardrails: GuardrailOutcome[];
  /** Response headers beside the standard ones, lower-case names. */
  readonly headers: Map<string, string>;
  /** Data that steps of one plugin share with each other. */
  readonly state: Map<symbol, unknown>;
}
