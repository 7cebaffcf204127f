/** LiteLLM's reply headers, made of the gateway's. */

import type { Amounts, EdgeReply } from "@sluice/contract";
import { dollarText } from "./dollars.ts";

/** Our headers of the key's window, and the names of LiteLLM's for it. */
const WINDOW = ["limit-requests", "remaining-requests", "limit-tokens", "remaining-tokens"];

/** The headers of one reply. */
export function replyHeaders(reply: EdgeReply): Readonly<Record<string, string>> {
  const { exchange, costNanoUsd, failure, timeoutMs, header } = reply;
  const { attempts, client, model } = exchange;
  const limits = keyLimits(exchange);
  const fallbacks = Number(header("x-sluice-fallbacks") ?? "0");
  const answered = attempts.findLast(({ error }) => error === undefined) ?? attempts.at(-1);
  const guardrails = header("x-sluice-guardrails");
  const isUncalled = failure !== undefined && attempts.length === 0;
  return present({
    "x-litellm-call-id": client.header("x-litellm-call-id")?.slice(0, 256) ?? exchange.id,
    "x-litellm-model-id": answered?.target.id,
    "x-litellm-model-group": model?.entry,
    "x-litellm-response-cost": isUncalled ? "0" : dollarText(costNanoUsd),
    "x-litellm-attempted-retries": String(Math.max(0, attempts.length - 1 - fallbacks)),
    "x-litellm-attempted-fallbacks": String(fallbacks),
    "x-litellm-applied-guardrails": guardrails === "" ? undefined : guardrails,
    "x-litellm-timeout": String(timeoutMs / 1_000),
    "x-litellm-overhead-duration-ms": header("x-sluice-overhead-ms"),
    "x-litellm-key-rpm-limit": limits?.rpm?.toString(),
    "x-litellm-key-tpm-limit": limits?.tpm?.toString(),
    "x-litellm-key-max-budget": dollarText(limits?.maxBudgetNanoUsd ?? undefined),
    ...Object.fromEntries(
      WINDOW.map((name) => [`x-ratelimit-api_key-${name}`, header(`x-ratelimit-${name}`)]),
    ),
  });
}

function keyLimits({ identity }: EdgeReply["exchange"]): Amounts | undefined {
  return identity?.scopes?.find(({ kind }) => kind === "key")?.amounts;
}

function present(
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const found = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "",
  );
  return Object.fromEntries(found);
}
