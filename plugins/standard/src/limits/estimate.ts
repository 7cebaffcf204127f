/**
 * Estimates: what a request may use, before its reply. Low for tokens, high for money. Tools that
 * the provider runs are billed by the use.
 */

import { Native } from "@sluice/kit/passthrough";
import { promptParts } from "@sluice/runtime/openai";
import { openAttempt, pricedAs, priceAttempt } from "@sluice/runtime";
import { isForm } from "../passthrough/read-body.ts";
import { nativeBound, nativeImages, nativeReplies, positive } from "./native-bounds.ts";
import type {
  Attempt,
  Cost,
  Exchange,
  HostedTool,
  Host,
  JsonDocument,
  JsonObject,
  Model,
  Price,
  Target,
  Usage,
  JsonValue,
  ToolUses,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** What a request may use. */
export interface TokenEstimate {
  /** A fourth of the bytes of the prompt's texts, and the tokens of what is no text. */
  readonly promptTokens: number;
  /** A third of them: dense texts have that many, and money is never reserved too short. */
  readonly maxPromptTokens: number;
  /** Tokens of all replies at most. */
  readonly completionTokens: number;
}

/** Bytes of one token of common prose, and of dense text: code, digits, other scripts. */
const BYTES_PER_TOKEN = 4;
const MIN_BYTES_PER_TOKEN = 3;

/**
 * No reply has more tokens and no request more pieces: what a client writes beyond must still have
 * a price.
 */
const MAX_COMPLETION_TOKENS = 1_000_000_000;
const MAX_PIECES = 1_000_000;

/** Methods that ask for nothing that is billed. */
const READING: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE"]);

/**
 * The tokens of an image at the highest quality, of models that bill images as tokens; the sizes
 * are the reference API's (platform.openai.com/docs/guides/image-generation, "Cost and latency").
 */
const IMAGE_TOKENS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  low: { "1024x1024": 272, "1024x1536": 408, "1536x1024": 400 },
  medium: { "1024x1024": 1056, "1024x1536": 1584, "1536x1024": 1568 },
  high: { "1024x1024": 4160, "1024x1536": 6240, "1536x1024": 6208 },
};
const MAX_IMAGE_TOKENS = 6240;

/** The tokens that a body asks for. */
export function estimateTokens(
  { operation, client, request }: Exchange,
  document: JsonDocument,
  model: Model | undefined,
  otherwise: number,
): TokenEstimate {
  const body = document.value;
  if (operation === "passthrough") {
    if (READING.has(client.method))
      return { promptTokens: 0, maxPromptTokens: 0, completionTokens: 0 };
    return {
      ...promptOf(request?.raw?.length ?? 0, 0),
      completionTokens: Math.min(
        nativeTokens(
          body,
          client.parameters.endpoint ?? "",
          model?.info?.maxOutputTokens,
          otherwise,
        ),
        MAX_COMPLETION_TOKENS,
      ),
    };
  }
  let bytes = 0;
  const { texts, overhead } = promptParts(body);
  for (const text of texts) bytes += Buffer.byteLength(text);
  const max = model?.info?.maxOutputTokens;
  // No reply is longer than the model can make it, whatever the request says.
  const length = Math.min(cap(body) ?? max ?? otherwise, max ?? Infinity);
  const replies = operation === "chat" ? countOf(body) * length : 0;
  const completionTokens = Math.min(
    operation === "images" ? imageTokens(body) : replies,
    MAX_COMPLETION_TOKENS,
  );
  return { ...promptOf(bytes, overhead), completionTokens };
}

/** Prices a call that has not been made: at the prices of the rows. */
export class CostEstimator {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /**
   * The most that a call of a target may cost, in nano-dollars; `undefined` when its price is
   * unknown.
   */
  nanoUsd(
    exchange: Exchange,
    target: Target,
    document: JsonDocument,
    tokens: TokenEstimate,
  ): number | undefined {
    const usage = this.usage(exchange, target, document, tokens);
    if (usage === undefined) return 0;
    return priceAttempt(exchange, attemptOf(target, this.#providerOf(target), usage))?.nanoUsd;
  }

  /**
   * The most that a call of a target may use; `undefined` for a call that asks for nothing that is
   * billed.
   */
  usage(
    exchange: Exchange,
    target: Target,
    { value }: JsonDocument,
    tokens: TokenEstimate,
  ): Usage | undefined {
    const { operation, client } = exchange;
    if (operation === "passthrough") {
      if (READING.has(client.method)) return undefined;
      const usage = textUsage(value, tokens);
      if (this.#priceOf(target)?.images === undefined) return usage;
      const { count, ...traits } = nativeImages(value, (name) => formText(exchange, name));
      return { ...usage, images: { count: Math.min(count, MAX_PIECES), ...traits } };
    }
    return operation === "images"
      ? imageUsage(value, tokens, this.#priceOf(target))
      : textUsage(value, tokens);
  }

  /** The tool of a request that has no price at a target which has one. */
  unpricedTool(target: Target, { value }: JsonDocument): HostedTool | undefined {
    const price = this.#priceOf(target);
    return price === undefined ? undefined : unpricedTool(value, price);
  }

  /** The part of what a call may cost, `nanoUsd`, that depends on the length of its reply. */
  uncertainNanoUsd(
    exchange: Exchange,
    targets: readonly Target[] | undefined,
    document: JsonDocument | undefined,
    tokens: TokenEstimate | undefined,
    nanoUsd: number,
  ): number {
    if (targets === undefined || document === undefined || tokens === undefined) return nanoUsd;
    const withoutReply = { ...tokens, completionTokens: 0 };
    const certain = targets.map(
      (target) => this.nanoUsd(exchange, target, document, withoutReply) ?? 0,
    );
    return Math.max(0, nanoUsd - Math.max(0, ...certain));
  }

  #priceOf(target: Target): Price | undefined {
    return target.price ?? this.#host.prices.find(this.#providerOf(target), target.model);
  }

  #providerOf({ provider }: Target): string {
    const instance = this.#host.providers.find(provider);
    return instance === undefined ? provider : pricedAs(instance);
  }
}

/** The cost of an attempt, in nano-dollars; `undefined` while it is not known. */
export function knownCost(
  attempt: Attempt,
  pricer: (() => Cost | undefined) | undefined,
): number | undefined {
  const { cost, outcome, usage, error, firstContentAtMs, isUnanswered } = attempt;
  if (cost !== undefined) return cost.nanoUsd;
  if (outcome === undefined) return undefined;
  if (usage === undefined) {
    // What was cut by the gateway, or after its first content, is billed, and estimated only when
    // the exchange is over.
    if (outcome !== "failure" || error?.code === "hedge_lost" || firstContentAtMs !== undefined)
      return undefined;
    // What was sent and lost is billed as the operator says.
    return isUnanswered === true && pricer !== undefined ? pricer()?.nanoUsd : 0;
  }
  return pricer?.()?.nanoUsd;
}

function promptOf(
  bytes: number,
  overhead: number,
): Pick<TokenEstimate, "promptTokens" | "maxPromptTokens"> {
  return {
    promptTokens: Math.ceil(bytes / BYTES_PER_TOKEN) + overhead,
    maxPromptTokens: Math.ceil(bytes / MIN_BYTES_PER_TOKEN) + overhead,
  };
}

/** A text field of a native form body. */
function formText({ client, request }: Exchange, name: string): string | undefined {
  const type = client.header("content-type") ?? "";
  if (!isForm(type) || request?.raw === undefined) return undefined;
  return Native.formField({ body: request.raw, headers: { "content-type": type } }, name);
}

/** How many replies are asked for. */
function countOf({ n }: JsonObject): number {
  return typeof n === "number" && n > 1 ? Math.min(n, MAX_PIECES) : 1;
}

/** The larger of the two bounds: which one an upstream heeds that knows both is its own affair. */
function cap({ max_completion_tokens: newer, max_tokens: older }: JsonObject): number | undefined {
  const bound = Math.max(positive(newer) ?? 0, positive(older) ?? 0);
  return bound === 0 ? undefined : bound;
}

/** The tokens of all replies of a native request, no more than the model can make. */
function nativeTokens(
  body: JsonObject,
  endpoint: string,
  max: number | undefined,
  otherwise: number,
): number {
  const length = Math.min(nativeBound(body, endpoint) ?? max ?? otherwise, max ?? Infinity);
  return length * Math.min(nativeReplies(body), MAX_PIECES);
}

function imageTokens(body: JsonObject): number {
  const { size, quality } = body;
  const ofQuality =
    typeof quality === "string" && Object.hasOwn(IMAGE_TOKENS, quality)
      ? IMAGE_TOKENS[quality]
      : IMAGE_TOKENS.high;
  const ofSize = typeof size === "string" ? ofQuality?.[size] : undefined;
  return (
    countOf(body) *
    (ofSize ??
      Math.max(...Object.values(ofQuality ?? {}), quality === undefined ? MAX_IMAGE_TOKENS : 0))
  );
}

function textUsage(body: JsonObject, tokens: TokenEstimate): Usage {
  const tier = tierOf(body);
  const { maxPromptTokens: promptTokens, completionTokens } = tokens;
  const counts = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
  const toolUses = expectedToolUses(body);
  const usage = toolUses === undefined ? counts : { ...counts, toolUses };
  // A cheaper tier may be answered at the standard price.
  return tier !== undefined && tier !== "flex" && tier !== "batch"
    ? { ...usage, serviceTier: tier }
    : usage;
}

/** The tier that a body asks for: Bedrock's is an object, and Anthropic's fast mode is a speed. */
function tierOf({ service_tier, serviceTier, speed }: JsonObject): string | undefined {
  if (speed === "fast") return speed;
  const tier = service_tier ?? (isObject(serviceTier) ? serviceTier.type : serviceTier);
  return typeof tier === "string" ? tier.toLowerCase() : undefined;
}

/** Images have a price by the piece, or one of their tokens. */
function imageUsage(body: JsonObject, tokens: TokenEstimate, price: Price | undefined): Usage {
  const { maxPromptTokens: promptTokens, completionTokens } = tokens;
  const { size, quality } = body;
  const images = {
    count: countOf(body),
    ...(typeof size === "string" ? { size } : {}),
    ...(typeof quality === "string" ? { quality } : {}),
  };
  const isByPiece =
    price?.images !== undefined && price.output === undefined && price.outputImage === undefined;
  if (isByPiece) return { promptTokens: 0, completionTokens: 0, totalTokens: 0, images };
  const isByTokens = price?.output !== undefined || price?.outputImage !== undefined;
  const used = isByTokens
    ? { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
    : NO_TOKENS;
  return { ...used, ...(isByTokens ? { imageCompletionTokens: completionTokens } : {}), images };
}

const NO_TOKENS = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };

/** An attempt as it might end. */
function attemptOf(target: Target, provider: string, usage: Usage): Attempt {
  const attempt = openAttempt({ number: 0, target, provider, startedAtMs: 0 });
  attempt.report(usage, "estimated");
  attempt.succeed(0);
  return attempt;
}

/** Uses of a tool without a bound in the request. The bill has the reported number. */
const ASSUMED_USES = 5;

/** Beginnings of types of tools: versions follow (`web_search_20250305`, `web_search_preview`). */
const TYPES: readonly (readonly [beginning: string, tool: HostedTool])[] = [
  ["web_search", "web_search"],
  ["google_search", "web_search"],
  ["googleSearch", "web_search"],
  ["file_search", "file_search"],
  ["code_interpreter", "code_interpreter"],
  ["google_maps", "maps"],
  ["googleMaps", "maps"],
];

/** Tools that are billed once for a request. */
const ONCE: ReadonlySet<HostedTool> = new Set(["code_interpreter", "maps"]);

/** The uses that a body may lead to; `undefined` without such a tool. */
function expectedToolUses({
  tools,
  web_search_options: search,
  max_tool_calls: maxCalls,
}: JsonObject): ToolUses | undefined {
  const uses: Partial<Record<HostedTool, number>> = {};
  if (isObject(search)) uses.web_search = 1;
  for (const tool of Array.isArray(tools) ? (tools as readonly JsonValue[]) : []) {
    if (!isObject(tool)) continue;
    for (const name of typeof tool.type === "string" ? [tool.type] : Object.keys(tool)) {
      const hosted = TYPES.find(([beginning]) => name.startsWith(beginning))?.[1];
      if (hosted === undefined) continue;
      const bound = Math.min(
        positive(tool.max_uses) ?? ASSUMED_USES,
        positive(maxCalls) ?? Infinity,
      );
      uses[hosted] = (uses[hosted] ?? 0) + (ONCE.has(hosted) ? 1 : bound);
    }
  }
  return Object.keys(uses).length === 0 ? undefined : uses;
}

/** A tool of the body that has no price. */
function unpricedTool(body: JsonObject, price: Price): HostedTool | undefined {
  const uses = price.free === true ? {} : (expectedToolUses(body) ?? {});
  return (Object.keys(uses) as HostedTool[]).find((tool) => price.tools?.[tool] === undefined);
}
