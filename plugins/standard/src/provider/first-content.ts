/**
 * The time to first content of an attempt: it depends on the request, on ready stand-ins, and on
 * whether it is a trial.
 */

import { isObject } from "@sluice/kit";
import type { AttemptOptions } from "@sluice/runtime/transport";
import {
  type Exchange,
  GatewayError,
  type JsonObject,
  type ProviderInstance,
  type Target,
} from "@sluice/contract";
import type { Lease } from "../deployments/lease.ts";
import { hasStandIn } from "../retry/attempt-budget.ts";

/** The limit while another target or a fallback can take the request. */
const REPLACEABLE_MS = 30_000;
/** The limit without a stand-in, and for models that think. */
const PATIENT_MS = 300_000;
/**
 * The limit for a trial with a ready fallback: this time, or this multiple of the target's usual
 * time.
 */
const TRIAL_MS = 5_000;
const TRIAL_FACTOR = 3;

/** Bounds of one attempt. */
export type Patience = Pick<AttemptOptions, "firstContent" | "firstByteMs">;

/** No bounds beside those of the provider. */
export const NO_BOUNDS: Patience = Object.freeze({});

/** The context of an attempt. */
export interface PatienceParts {
  readonly exchange: Exchange;
  readonly instance: ProviderInstance;
  readonly target: Target;
  readonly lease: Lease | undefined;
}

/** The bounds of an attempt, beside those of its provider. Waits only for a trial. */
export function patienceOf(parts: PatienceParts): Patience | Promise<Patience> {
  const { exchange, instance, lease } = parts;
  const { request } = exchange;
  if (request?.stream !== true || exchange.operation !== "chat") return NO_BOUNDS;
  const { firstContentMs } = instance.timeouts;
  // The request and the model are read only when the time is over, because few streams take so
  // long.
  const usual: Patience = {
    firstContent:
      firstContentMs === undefined
        ? {
            ms: REPLACEABLE_MS,
            extendedMs: async () => ((await isBounded(parts)) ? REPLACEABLE_MS : PATIENT_MS),
          }
        : { ms: firstContentMs },
  };
  if (lease?.isShortTrial !== true) return usual;
  return isBounded(parts).then((isSo) => (isSo ? ofTrial(lease, firstContentMs) : usual));
}

function ofTrial({ streamMs = 0 }: Lease, firstContentMs = REPLACEABLE_MS): Patience {
  const ms = Math.min(firstContentMs, Math.max(TRIAL_MS, TRIAL_FACTOR * streamMs));
  return { firstContent: { ms }, firstByteMs: ms };
}

/**
 * Whether another target or a fallback can take the request after a silence, and the model does not
 * think.
 */
async function isBounded(parts: PatienceParts): Promise<boolean> {
  const { exchange, lease } = parts;
  if (isReasoning(parts)) return false;
  if (lease?.hasOther === true) return true;
  return hasStandIn(
    exchange,
    new GatewayError("upstream_timeout", "The upstream sent no content."),
  );
}

/** Whether the model may think for minutes before its first content. */
function isReasoning({ exchange, instance, target }: PatienceParts): boolean {
  const { model, request } = exchange;
  if (request !== undefined && asksForReasoning(request.document.value)) return true;
  return (
    model?.info?.supports["supports_reasoning"] ??
    instance.translation.capabilities.traits?.(target.model)?.reasons ??
    false
  );
}

function asksForReasoning(body: JsonObject): boolean {
  const { reasoning_effort: effort, thinking, reasoning, enable_thinking: isEnabled } = body;
  if (typeof effort === "string" && effort !== "none") return true;
  if (isObject(thinking) && thinking.type !== "disabled") return true;
  if (isObject(reasoning) && reasoning.enabled !== false && reasoning.effort !== "none")
    return true;
  return isEnabled === true;
}
