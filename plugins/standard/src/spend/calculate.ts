/** `POST /spend/calculate`: the price of a prompt, or the cost of a reply. */

import { type CostPart, costBreakdown, dollarsOf } from "@sluice/runtime";
import { isObject, jsonReply } from "@sluice/kit";
import { countPrompt } from "@sluice/runtime/openai";
import { readUsage } from "@sluice/kit/openai";
import {
  type Exchange,
  GatewayError,
  type Host,
  type JsonObject,
  type JsonValue,
  type Usage,
  type UsageSource,
  type WholeReply,
} from "@sluice/contract";
import { offeredTerms } from "../cost/offered-terms.ts";
import { type FoundPrice, priceOfModel, priceOfReply, unpriced } from "./model.ts";

/** The usage to price. */
interface Question {
  readonly found: FoundPrice;
  readonly usage: Usage;
  readonly source: UsageSource;
  /** The field that names the model. */
  readonly param: string;
}

/**
 * Answers with the cost, its parts and the price's source. The body's form was checked as it was
 * read. Throws `model_not_found`, `not_found` for an unknown price, `invalid_field` for a reply
 * without a model or usage.
 */
export async function calculateSpend(exchange: Exchange, host: Host): Promise<WholeReply> {
  const body = exchange.request?.document.value ?? {};
  const { completion_response: reply } = body;
  const question = isObject(reply)
    ? replyQuestion(reply, exchange, host)
    : await promptQuestion(body, exchange, host);
  const { found, usage, param } = question;
  const parts = costBreakdown(usage, found.price, offeredTerms(exchange, found.target.provider));
  if (parts === undefined) throw unpriced(found.modelId, param);
  return jsonReply(publicCost(question, parts));
}

function replyQuestion(reply: JsonObject, exchange: Exchange, host: Host): Question {
  const param = "completion_response.model";
  if (typeof reply.model !== "string" || reply.model === "") {
    throw new GatewayError(
      "invalid_field",
      "The field completion_response.model must be a string that is not empty.",
      { param },
    );
  }
  const usage = readUsage(reply.usage as JsonValue | undefined);
  if (usage === undefined) {
    throw new GatewayError(
      "invalid_field",
      "The field completion_response.usage must hold prompt_tokens and completion_tokens, whole numbers.",
      { param: "completion_response.usage" },
    );
  }
  const tier = typeof reply.service_tier === "string" ? { serviceTier: reply.service_tier } : {};
  const found = priceOfReply(reply.model, exchange, host);
  return { found, usage: { ...tier, ...usage }, source: "provider", param };
}

async function promptQuestion(body: JsonObject, exchange: Exchange, host: Host): Promise<Question> {
  const found = priceOfModel(String(body.model), exchange, host);
  const { tokens } = await countPrompt(body, host.tokens);
  const usage: Usage = { promptTokens: tokens, completionTokens: 0, totalTokens: tokens };
  return { found, usage, source: "estimated", param: "model" };
}

function publicCost({ found, usage, source }: Question, parts: readonly CostPart[]): JsonObject {
  let nanoUsd = 0n;
  for (const part of parts) nanoUsd += BigInt(part.nanoUsd);
  return {
    cost: dollarsOf(nanoUsd),
    model: found.modelId,
    model_id: found.target.id,
    custom_llm_provider: found.provider,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    usage_source: source,
    breakdown: parts.map(({ kind, tokens, nanoUsd: share, picoUsdPerToken }) => ({
      kind,
      tokens,
      cost: dollarsOf(share),
      cost_per_token: picoUsdPerToken / 1e12,
    })),
    price_source: found.price.source,
  };
}
