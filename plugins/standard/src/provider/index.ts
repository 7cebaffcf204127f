/**
 * The step `provider`: calls the model's target, once or several times for a request in parts,
 * and sets its reply.
 */

import { defineStep } from "@sluice/kit";
import { endingOf, inTurns, nextTurn } from "@sluice/kit/internals";
import {
  checkCommitAfter,
  type CommitAfterConfig,
  commitAfterOf,
  commitAfterSchema,
} from "./commit-after.ts";
import { openUpstreams, type ProviderUpstream } from "./upstreams.ts";
import { IS_NATIVE, mayHaveTarget, pricedAs, replyHold } from "@sluice/runtime";
import { thoughtsFor } from "@sluice/runtime/dialect";
import {
  beginAttemptAt,
  type CommitAfter,
  type DropListener,
  enterLocal,
  enterUpstream,
  runAttempt,
  type UpstreamEntry,
  withCallHeaders,
} from "@sluice/runtime/transport";
import {
  type Exchange,
  GatewayError,
  type Host,
  type JsonObject,
  type MaybePromise,
  type NativeDocument,
  type ProviderInstance,
  type ProviderRequest,
  type Reply,
  type Target,
} from "@sluice/contract";
import { createConfiguredTargets } from "../models/configured.ts";
import { checkToolModels, type ToolRules } from "../models/tool-models.ts";
import { checkAccountObjects } from "./account-objects.ts";
import { leaseOf } from "../deployments/lease.ts";
import { NO_BOUNDS, type Patience, patienceOf } from "./first-content.ts";
import { callForImages } from "./image-calls.ts";
import { callForInputs } from "./input-calls.ts";
import { modelNotFound } from "../models/not-found.ts";
import { nativeDocument } from "./native-lane.ts";
import {
  type EncodedRequest,
  type SettledRequest,
  refuseSteering,
  settleNative,
  settleParameters,
} from "./parameters.ts";
import type { PartCaller } from "./part-calls.ts";
import { joinAttempts } from "../retry/attempt-budget.ts";

/** Options of the step `provider`. */
export interface ProviderConfig {
  readonly drop_params: boolean;
  readonly commit_after?: CommitAfterConfig;
}

export const provider = defineStep<ProviderConfig>({
  name: "provider",
  stability: "stable",
  summary: "Calls the target that a step has chosen, else the model's first. Ends the pipeline.",
  config: {
    type: "object",
    properties: {
      drop_params: {
        type: "boolean",
        default: false,
        description:
          "Drops parameters that a provider cannot honour, and lists them in `x-sluice-dropped-params`; else they are refused.",
      },
      commit_after: commitAfterSchema,
    },
  },
  check: (config) => checkCommitAfter(config.commit_after),
  operations: ["chat", "embeddings", "images"],
  traits: { terminal: true },
  order: {
    requires: [{ capability: "identity", reason: "an upstream call is charged to a key" }],
  },
  create(config, host) {
    const { authority, models } = host;
    const rules = { authority, models };
    const terms: CallTerms = {
      host,
      tools: { rules, targets: createConfiguredTargets(rules) },
      upstreams: openUpstreams(host),
      dropsParameters: config.drop_params,
      commitAfter: commitAfterOf(config.commit_after),
    };
    return {
      async run({ exchange }) {
        const call = new ProviderCall(terms, exchange);
        call.checkNames();
        if (call.isLarge) await nextTurn(endingOf(exchange));
        call.settle();
        if (call.needsMedia) await call.inlineMedia();
        const waiting = call.setBounds();
        if (waiting !== undefined) await waiting;
        exchange.reply = await call.reply();
      },
    };
  },
});

/** What all calls of a step share. */
interface CallTerms {
  readonly host: Host;
  readonly tools: ToolRules;
  readonly upstreams: ReadonlyMap<string, ProviderUpstream>;
  /** Whether parameters that a provider cannot honour are dropped. */
  readonly dropsParameters: boolean;
  readonly commitAfter: CommitAfter | undefined;
}

/**
 * Answers one request at its target. What it names is checked first, then its parameters are
 * settled, media inlined, and the bounds set; then the reply is made. With a large request each is
 * a piece of work for a turn of the event loop.
 */
class ProviderCall implements PartCaller, DropListener {
  readonly #terms: CallTerms;
  readonly #exchange: Exchange;
  readonly #target: Target;
  readonly #door: ProviderUpstream;
  readonly #native: NativeDocument | undefined;
  /** Whether the client's body is a large one. */
  readonly isLarge: boolean;
  #settled: SettledRequest | undefined;
  #request: ProviderRequest;
  #bounds: Patience = NO_BOUNDS;

  /**
   * Throws `model_not_found` for a model that the key may not use, `provider_unavailable` without a
   * provider, and `unsupported_parameter` for an operation that the provider does not support.
   */
  constructor(terms: CallTerms, exchange: Exchange) {
    const target = exchange.target ?? exchange.model?.targets[0];
    checkModel(terms.host, exchange, target);
    if (target === undefined) throw unavailable(exchange);
    const door = terms.upstreams.get(target.provider);
    if (door === undefined) throw unavailable(exchange);
    checkCapabilities(door.instance, exchange);
    this.#terms = terms;
    this.#exchange = exchange;
    this.#target = target;
    this.#door = door;
    this.isLarge = exchange.request?.isLarge === true;
    this.#native = nativeDocument(exchange, door.instance, target);
    if (exchange.request?.native !== undefined) IS_NATIVE.set(exchange, this.#native !== undefined);
    this.#request = providerRequest(exchange, target);
  }

  /**
   * Throws `unsupported_parameter` for a member that chooses other models or tools, and
   * `permission_denied` for an object or a model that the key may not name.
   */
  checkNames(): void {
    const { document } = this.#native ?? this.#request;
    refuseSteering(document.value, this.#target, this.#door.instance);
    checkNames(this.#exchange, this.#door.instance, document.value, this.#terms.tools);
  }

  /** Throws `unsupported_parameter` for what the provider does not support. */
  settle(): void {
    const native = this.#native;
    const { instance } = this.#door;
    this.#settled =
      native === undefined
        ? settleParameters(this.#request, instance, this.#exchange, this.#terms.dropsParameters)
        : settleNative({ ...this.#request, native }, instance, this.#exchange);
    this.#request = this.#settled.request;
  }

  get needsMedia(): boolean {
    return this.#door.media !== undefined;
  }

  /** Replaces the addresses of media by the media. */
  async inlineMedia(): Promise<void> {
    const { media } = this.#door;
    if (media !== undefined) this.#request = await media.inline(this.#request, this.#exchange);
  }

  /** Sets the time to the first content. Returns a promise for a trial only. */
  setBounds(): Promise<void> | undefined {
    const exchange = this.#exchange;
    const { instance } = this.#door;
    const patience = patienceOf({
      exchange,
      instance,
      target: this.#target,
      lease: leaseOf(exchange),
    });
    if (patience instanceof Promise) {
      return patience.then((bounds) => {
        this.#bounds = bounds;
      });
    }
    this.#bounds = patience;
    return undefined;
  }

  /** The reply: of one attempt, or joined from those of a request in parts. */
  reply(): Promise<Reply> {
    const exchange = this.#exchange;
    const { capabilities } = this.#door.instance.translation;
    const { model } = this.#target;
    switch (exchange.operation) {
      case "images": {
        const perCall = capabilities.imagesPerCall?.(model) ?? Infinity;
        return joinAttempts(exchange, () => callForImages(this.#request, perCall, this));
      }
      case "embeddings": {
        const perCall = capabilities.inputsPerCall?.(model) ?? Infinity;
        return joinAttempts(exchange, () => callForInputs(this.#request, perCall, this));
      }
      default:
        return this.attempt(this.#request);
    }
  }

  /** Makes one attempt for the request, or for a part of it. */
  async attempt(asked: ProviderRequest): Promise<Reply> {
    const exchange = this.#exchange;
    const target = this.#target;
    const { instance, upstream } = this.#door;
    const settled = this.#settled as SettledRequest;
    const ending = endingOf(exchange);
    const { request, call } = this.isLarge
      ? await inTurns(settled.encodeInStages(asked), ending)
      : settled.encode(asked);
    // Encoding a large request is a piece of work, and noting its prompt another one.
    if (this.isLarge) await nextTurn(ending);
    const entering = enter(exchange, this.#door, target, { request, call });
    const entry = entering instanceof Promise ? await entering : entering;
    const { place } = entry;
    const lease = leaseOf(exchange);
    if (entering instanceof Promise && lease?.mayCall === false) {
      place?.release();
      throw ejectedMeanwhile(target);
    }
    const part = exchange.operation === "embeddings" ? request.document : undefined;
    const begun = beginAttemptAt(entry, exchange, target, pricedAs(instance), part);
    const attempt = begun instanceof Promise ? await begun : begun;
    return await runAttempt({
      provider: settled.provider,
      hold: replyHold(exchange),
      upstream,
      request,
      call: call.kind === "http" ? withCallHeaders(exchange, instance, call) : call,
      attempt,
      includeUsage: exchange.request?.includeUsage === true,
      commitAfter: this.#terms.commitAfter,
      firstContent: this.#bounds.firstContent,
      firstByteMs: this.#bounds.firstByteMs,
      isLarge: this.isLarge,
      dropListener: this,
      observer: lease?.watch(attempt),
      signal: ending,
      clock: this.#terms.host.clock,
      place,
    });
  }

  dropped(): void {
    noteDropped(this.#terms.host, this.#exchange, this.#target);
  }
}

/** Checks the objects of the account, and the models of tools, that a request names. */
function checkNames(
  exchange: Exchange,
  instance: ProviderInstance,
  body: JsonObject,
  tools: ToolRules,
): void {
  // Inputs to embed are texts or lists of many tokens.
  if (exchange.operation !== "embeddings") checkAccountObjects(body, instance, exchange.identity);
  checkToolModels(exchange, instance.name, body, tools);
}

function noteDropped({ log }: Host, exchange: Exchange, { id }: Target): void {
  exchange.note("provider", "left out an event of the stream that is not a JSON object", id);
  log.warn("unreadable stream event dropped", { request_id: exchange.id, deployment: id });
}

/** Enters the upstream, or the gates alone for a call without a network. */
function enter(
  exchange: Exchange,
  door: ProviderUpstream,
  target: Target,
  { request: { document }, call }: EncodedRequest,
): MaybePromise<UpstreamEntry> {
  return call.kind === "http"
    ? enterUpstream(exchange, door, target, document)
    : enterLocal(exchange, target, document);
}

/** A step may have replaced the model that the key was checked for, or its target. */
function checkModel({ authority }: Host, exchange: Exchange, target: Target | undefined): void {
  const { identity, model } = exchange;
  if (model === undefined) return;
  if (identity !== undefined && !authority.mayUse(identity, model)) throw modelNotFound(model.id);
  if (target !== undefined && !mayHaveTarget(model, target, exchange))
    throw modelNotFound(model.id);
}

function checkCapabilities(
  { name, translation: { capabilities } }: ProviderInstance,
  { operation, request }: Exchange,
): void {
  if (!capabilities.operations.includes(operation)) {
    const message = `The provider ${name} does not support the operation ${operation}.`;
    throw new GatewayError("unsupported_parameter", message, { param: "model" });
  }
  if (request?.stream === true && !capabilities.streaming) {
    const message = `The provider ${name} does not support streams. Send stream: false.`;
    throw new GatewayError("unsupported_parameter", message, { param: "stream" });
  }
}

function unavailable({ model }: Exchange): GatewayError {
  const message = `No provider of the model ${model?.id ?? ""} has a credential.`;
  return new GatewayError("provider_unavailable", message, { param: "model" });
}

function ejectedMeanwhile({ id }: Target): GatewayError {
  const message = `The deployment ${id} was ejected while the request waited.`;
  return new GatewayError("overloaded", message, { retryAfterMs: 1_000 });
}

function providerRequest(exchange: Exchange, target: Target): ProviderRequest {
  const { request } = exchange;
  if (request === undefined)
    throw new GatewayError("internal_error", "The provider step ran without a request.");
  const thoughtsOf = request.native?.thoughtsOf;
  return {
    operation: exchange.operation,
    document:
      thoughtsOf === undefined
        ? request.document
        : thoughtsFor(request.document, thoughtsOf, target.id),
    target,
    replyModel: exchange.model?.id ?? request.model,
    stream: request.stream,
    replyId: `chatcmpl-${exchange.id}`,
    createdSeconds: Math.floor(exchange.lifetime.startedAtMs / 1000),
  };
}
