/** Freezing. */

import { Secret } from "@sluice/contract";

/** Freezes plain data to its depth and returns it. Secrets and functions are left as they are. */
export function deepFreeze<T>(value: T): T {
  if (
    typeof value !== "object" ||
    value === null ||
    value instanceof Secret ||
    Object.isFrozen(value)
  )
    return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
