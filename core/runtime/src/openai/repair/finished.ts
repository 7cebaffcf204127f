/** Decides whether a stream without an end mark is a whole reply. */

import type { Frame, Usage } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/**
 * Whether the reply is whole: the last content finishes a choice, and the usage, which follows it,
 * is known. Some upstreams then close the connection without `[DONE]`.
 */
export function isFinished(lastContent: Frame | undefined, usage: Usage | undefined): boolean {
  if (lastContent === undefined || usage === undefined) return false;
  try {
    const { choices } = lastContent.chunk();
    return (
      Array.isArray(choices) &&
      choices.some(
        (choice: unknown) => isObject(choice) && typeof choice.finish_reason === "string",
      )
    );
  } catch {
    return false;
  }
}
