/** The formats of configuration schemas, beside those that JSON Schema has. */

import { parseDuration } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import { parseDecimal } from "../prices/decimal.ts";

/** A time with its zone (RFC 3339 5.6). */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Formats of texts. */
export const TEXT_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => parseDuration(text) !== undefined,
  "date-time": (text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)),
  size: (text) => parseSize(text) !== undefined,
  origin: (text) =>
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text,
};

/** Formats of numbers. */
export const NUMBER_FORMATS: Readonly<Record<string, (value: number) => boolean>> = {
  price: (price) => parseDecimal(String(Math.abs(price)), 6) !== undefined,
};
