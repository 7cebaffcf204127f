/** The exchange: one client request and its reply. */

import type { Attempt } from "./attempt.ts";
import type { JsonDocument } from "./json.ts";
import type { Identity } from "./identity.ts";
import type { Model, Operation } from "./model.ts";
import type { NativeRequest } from "./native.ts";
import type { Reply } from "./reply.ts";
import type { Target } from "./target.ts";

/** What the client sent, before any body. */
export interface ClientRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The query without the question mark. */
  readonly query: string;
  /** Values of the path pattern's parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Headers that may hold the key, besides those of every route; lower-case names. */
  readonly keyHeaders?: readonly string[];
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
  /** The client's body is large, and handled in turns of the event loop. Absent: it is small. */
  readonly isLarge?: true;
  /** The body as it came, on passthrough routes only: whatever it is, these bytes are forwarded. */
  readonly raw?: Uint8Array;
  /**
   * Top-level members of `raw` that only gateways know: an inference endpoint does not get them.
   * Absent: there are none.
   */
  readonly cut?: readonly string[];
  /** What the client sent, where a face has translated it. */
  readonly native?: NativeRequest;
  /** The gateway's own fields, taken out of the document. */
  readonly fields: GatewayFields;
  /** Guardrails that the client asks for, in addition. They exist. */
  readonly guardrails?: readonly string[];
  /** The model id the client asked for. */
  readonly model: string;
  /**
   * Further ids to look for, in order, where `model` is none that the key may use: a deployment
   * under its provider's prefix.
   */
  readonly otherModels?: readonly string[];
  /**
   * What the client is willing to wait, in milliseconds from the start of the exchange. It only
   * shortens the route's deadline.
   */
  readonly timeoutMs?: number;
  readonly stream: boolean;
  /** Whether a streaming client asked for a usage chunk. */
  readonly includeUsage: boolean;
  readonly endUser: string | null;
  /** Tags and metadata for the spend row. */
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The time of an exchange, and its end. A branch and a step in shadow share it. */
export interface Lifetime {
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** When the exchange must have an answer, on the monotonic clock. */
  readonly deadlineMs: number;
  /**
   * Registers what is to happen when the exchange is over, however it ended: every attempt has its
   * outcome, the rows are recorded, and nothing is under way any more. Must not throw.
   */
  onSettle(settled: () => void): void;
}

/**
 * Values that single steps, the runtime or the engine keep on an exchange. They are read and
 * written through their slot alone: `defineSlot` of the kit. Branches share the slots of their
 * exchange; a step in shadow has a copy.
 */
export type Slots = unknown[];

/**
 * One client request and its reply: what every step needs. A step reads it, changes `request`, sets
 * `reply`, and throws a GatewayError to refuse. Everything set here ends with the exchange. What
 * single steps own is kept in `slots`.
 */
export interface Exchange {
  /** UUIDv7, made by the gateway. */
  readonly id: string;
  readonly operation: Operation;
  readonly client: ClientRequest;
  readonly lifetime: Lifetime;
  /**
   * Aborts when the client leaves, the deadline passes or the generation retires. Its reason is a
   * GatewayError.
   */
  readonly signal: AbortSignal;
  /**
   * Set once the body is read: `receiveBody` of the kit. Replaced by a step that changes what the
   * upstream will see.
   */
  request: GatewayRequest | undefined;
  identity: Identity | undefined;
  model: Model | undefined;
  /**
   * The target of the next attempt, when a step has chosen one; else the model's first is called.
   */
  target: Target | undefined;
  /** What answers. Setting what is no reply throws `Error`: the step fails. */
  reply: Reply | undefined;
  /** The upstream calls so far: `beginAttempt` of the kit adds one. A branch lists its own. */
  readonly attempts: readonly Attempt[];
  /** Response headers beside the standard ones, lower-case names. */
  readonly headers: Map<string, string>;
  /**
   * Records what a step has decided, for `GET /requests/{id}`: its own name, a constant text, and
   * what the text is about: an id, a code, a number. Never what a client wrote beside a model's id.
   * The texts are joined when the page is asked for.
   */
  note(step: string, text: string, about?: string): void;
  readonly slots: Slots;
}
