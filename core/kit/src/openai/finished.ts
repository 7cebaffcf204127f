/** Tells whether a stream without an end mark is a whole reply all the same. */

import type { Frame, Usage } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";

/**
 * Whether everything has been said: the last content finishes a choice, and the usage, which comes behind it, is known. Some
 * upstreams then close the connection without `[DONE]`.
 */
export function isFinished(lastContent: Frame | undefined, usage: Usage | undefined): boolean {
  if (lastContent === undefined || usage === undefined) return false;
  try {
    const { choices } = lastContent.chunk();
    return (
      Array.isArray(choices) && choices.some((choice: unknown) => isObject(choice) && typeof choice.finish_reason === "string")
    );
  } catch {
    return false;
  }
}
