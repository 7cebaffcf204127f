/** Numbers as LiteLLM takes them: also as text, and seconds with a fraction. */

import type { JsonValue } from "@sluice/contract";

const NUMBER = /^\d{1,12}(?:\.\d{1,12})?$/;

/** Whole seconds, rounded up; `undefined` for what is no positive number. */
export function secondsOf(value: JsonValue | undefined): number | undefined {
  const seconds =
    typeof value === "string" && NUMBER.test(value.trim()) ? Number(value.trim()) : value;
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds <= 0) return undefined;
  return Math.max(1, Math.ceil(seconds));
}

/** A whole number from 0; `undefined` for everything else. */
export function wholeOf(value: JsonValue | undefined): number | undefined {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0
    ? number
    : undefined;
}
