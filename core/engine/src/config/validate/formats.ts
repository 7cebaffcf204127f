/** The formats of configuration schemas, beside those that JSON Schema has. */

import { parseDuration } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import { parseDecimal } from "../prices/decimal.ts";

/** Formats of texts. */
export const TEXT_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => parseDuration(text) !== undefined,
  size: (text) => parseSize(text) !== undefined,
  origin: (text) =>
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text,
};

/** Formats of numbers. */
export const NUMBER_FORMATS: Readonly<Record<string, (value: number) => boolean>> = {
  price: (price) => parseDecimal(String(Math.abs(price)), 6) !== undefined,
};
