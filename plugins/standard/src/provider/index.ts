/** The step `provider`: calls the model's target and sets its reply. */

import { replyHold } from "@sluice/kit/internals";
import { defineStep } from "@sluice/kit";
import { pricedAs } from "@sluice/runtime";
import { beginAttemptAt, enterLocal, enterUpstream, runAttempt, withCallHeaders } from "@sluice/runtime/transport";
import { type Exchange, GatewayError, type ProviderRequest, type Reply, type Target } from "@sluice/contract";
import { checkCommitAfter, type CommitAfterConfig, commitAfterOf, commitAfterSchema } from "./commit-after.ts";
import { leaseOf } from "../deployments/lease.ts";
import { patienceOf } from "./first-content.ts";
import { callForImages } from "./image-calls.ts";
import { callForInputs } from "./input-calls.ts";
import { modelNotFound } from "../models/not-found.ts";
import { settleParameters } from "./parameters.ts";
import { joinAttempts } from "../retry/attempt-budget.ts";
import { openUpstreams } from "./upstreams.ts";

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
    const upstreams = openUpstreams(host);
    const commitAfter = commitAfterOf(config.commit_after);
    return {
      async run({ exchange }) {
        const { identity, model } = exchange;
        // A step may have replaced the model that the key was checked for.
        if (identity !== undefined && model !== undefined && !host.authority.mayUse(identity, model))
          throw modelNotFound(model.id);
        const target = targetOf(exchange);
        const door = upstreams.get(target.provider) ?? unavailable(exchange);
        const { instance, upstream, media } = door;
        if (!instance.translation.capabilities.operations.includes(exchange.operation)) {
          throw new GatewayError(
            "unsupported_parameter",
            `The provider ${instance.name} does not support the operation ${exchange.operation}.`,
            {
              param: "model",
            },
          );
        }
        if (exchange.request?.stream === true && !instance.translation.capabilities.streaming) {
          throw new GatewayError(
            "unsupported_parameter",
            `The provider ${instance.name} does not support streams. Send stream: false.`,
            { param: "stream" },
          );
        }
        const settled = settleParameters(providerRequest(exchange, target), instance, exchange, config.drop_params);
        const request = media === undefined ? settled.request : await media.inline(settled.request, exchange);
        const includeUsage = exchange.request?.includeUsage === true;
        const patience = patienceOf({ exchange, instance, target, lease: leaseOf(exchange) });
        const bounds = patience instanceof Promise ? await patience : patience;
        const call = async (asked: ProviderRequest): Promise<Reply> => {
          const { request: sent, call: encoded } = settled.encode(asked);
          const entering =
            encoded.kind === "http"
              ? enterUpstream(exchange, door, target, sent.document)
              : enterLocal(exchange, target, sent.document);
          const entry = entering instanceof Promise ? await entering : entering;
          const { place } = entry;
          const lease = leaseOf(exchange);
          if (entering instanceof Promise && lease?.mayCall === false) {
            place?.release();
            throw new GatewayError("overloaded", `The deployment ${target.id} was ejected while the request waited.`, {
              retryAfterMs: 1_000,
            });
          }
          const part = exchange.operation === "embeddings" ? sent.document : undefined;
          const begun = beginAttemptAt(entry, exchange, target, pricedAs(instance), part);
          const attempt = begun instanceof Promise ? await begun : begun;
          return runAttempt({
            provider: settled.provider,
            hold: replyHold(exchange),
            upstream,
            request: sent,
            call: encoded.kind === "http" ? withCallHeaders(exchange, instance, encoded) : encoded,
            attempt,
            includeUsage,
            commitAfter,
            firstContent: bounds.firstContent,
            firstByteMs: bounds.firstByteMs,
            onDropped() {
              exchange.note("provider", "left out an event of the stream that is not a JSON object", target.id);
              host.log.warn("unreadable stream event dropped", { request_id: exchange.id, deployment: target.id });
            },
            observer: lease?.watch(attempt),
            signal: exchange.signal,
            clock: host.clock,
            place,
          });
        };
        const { capabilities } = instance.translation;
        const imagesPerCall = capabilities.imagesPerCall?.(target.model) ?? Infinity;
        const inputsPerCall = capabilities.inputsPerCall?.(target.model) ?? Infinity;
        switch (exchange.operation) {
          case "images":
            exchange.reply = await joinAttempts(exchange, () => callForImages(request, imagesPerCall, call));
            return;
          case "embeddings":
            exchange.reply = await joinAttempts(exchange, () => callForInputs(request, inputsPerCall, call));
            return;
          default:
            exchange.reply = await call(request);
        }
      },
    };
  },
});

function targetOf(exchange: Exchange): Target {
  return exchange.target ?? exchange.model?.targets[0] ?? unavailable(exchange);
}

function unavailable(exchange: Exchange): never {
  throw new GatewayError("provider_unavailable", `No provider of the model ${exchange.model?.id ?? ""} has a credential.`, {
    param: "model",
  });
}

function providerRequest(exchange: Exchange, target: Target): ProviderRequest {
  const { request } = exchange;
  if (request === undefined) throw new GatewayError("internal_error", "The provider step ran without a request.");
  return {
    operation: exchange.operation,
    document: request.document,
    target,
    replyModel: exchange.model?.id ?? request.model,
    stream: request.stream,
    replyId: `chatcmpl-${exchange.id}`,
    createdSeconds: Math.floor(exchange.lifetime.startedAtMs / 1000),
  };
}
