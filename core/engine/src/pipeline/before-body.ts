/** The decisions of steps before the body is read. */

import {
  type Exchange,
  GatewayError,
  isGatewayError,
  type MaybePromise,
  type Step,
} from "@sluice/contract";

/** One step's part, with the name that reports of a failure use. */
export interface BeforeBody {
  readonly name: string;
  readonly decide: NonNullable<Step["beforeBody"]>;
}

/** Runs the parts one behind the other. It answers without a promise where none of them waits. */
export function runBeforeBody(
  parts: readonly BeforeBody[],
  exchange: Exchange,
  from = 0,
): MaybePromise<void> {
  for (let index = from; index < parts.length; index += 1) {
    const part = parts[index] as BeforeBody;
    try {
      const waiting = part.decide(exchange);
      if (waiting instanceof Promise) {
        const rest = waiting.then(() => runBeforeBody(parts, exchange, index + 1));
        return rest.catch((error: unknown) => {
          throw failureOf(part, error);
        });
      }
    } catch (error) {
      throw failureOf(part, error);
    }
  }
}

function failureOf({ name }: BeforeBody, error: unknown): GatewayError {
  return isGatewayError(error)
    ? error
    : new GatewayError("plugin_failed", `The step ${name} failed.`, { cause: error });
}
