/** Numbers that money moves by: payment cards and bank accounts. */

import { patternRule, type TextRule } from "@sluice/kit/guard";
import { digitsOf, isLuhn, isMod97 } from "./checksums.ts";

/**
 * Ranges of the first four digits that the schemes use, and how many digits their numbers have, the
 * longest first.
 */
const SCHEMES: readonly (readonly [from: number, to: number, lengths: readonly number[]])[] = [
  [2221, 2720, [16]],
  [3000, 3059, [14]],
  [3400, 3499, [15]],
  [3528, 3589, [16]],
  [3600, 3699, [14]],
  [3700, 3799, [15]],
  [3800, 3999, [14]],
  [4000, 4999, [19, 16, 13]],
  [5000, 5099, [16]],
  [5100, 5999, [16]],
  [6011, 6011, [19, 16]],
  [6200, 6299, [19, 18, 17, 16]],
  [6300, 6399, [16]],
  [6440, 6599, [19, 16]],
  [6700, 6799, [16]],
];

/**
 * Payment cards: digits of a known scheme, of its length, with Luhn's check digit; one blank, dot,
 * slash, line break or hyphen may stand between two of them. Digits that go on behind the number,
 * after a blank, are not part of it.
 */
export const CARD: TextRule = patternRule(
  /(?<!\d)[2-6](?:[ \n./-]?\d){12,18}(?!\d)/g,
  37,
  (match) => {
    const digits = digitsOf(match);
    for (const length of lengthsOf(digits)) {
      if (digits.length < length || !isLuhn(digits, length)) continue;
      const end = endOfDigit(match, length);
      if (!isDigit(match, end)) return end;
    }
    return 0;
  },
);

function lengthsOf([a = 0, b = 0, c = 0, d = 0]: readonly number[]): readonly number[] {
  const begin = a * 1_000 + b * 100 + c * 10 + d;
  return SCHEMES.find(([from, to]) => begin >= from && begin <= to)?.[2] ?? [];
}

/** Where the n-th digit of a text ends. */
function endOfDigit(text: string, count: number): number {
  let end = 0;
  for (let seen = 0; end < text.length && seen < count; end++) if (isDigit(text, end)) seen++;
  return end;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/** Lengths of account numbers by country (SWIFT's registry of IBANs, release 99). */
const IBAN_LENGTHS: Readonly<Record<number, string>> = {
  15: "NO",
  16: "BE",
  18: "DK FI FK FO GL NL SD",
  19: "MK SI",
  20: "AT BA EE KZ LT LU MN XK",
  21: "CH CR HR LI LV",
  22: "BG BH DE GB GE IE ME RS VA",
  23: "AE GI IL IQ OM SO TL",
  24: "AD CZ ES MD PK RO SA SE SK TN VG",
  25: "LY PT ST",
  26: "IS TR",
  27: "BI DJ FR GR IT MC MR SM",
  28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
  29: "BR EG PS QA UA",
  30: "JO KW MU YE",
  31: "MT SC",
  32: "LC",
  33: "RU",
};
const LENGTH_OF = new Map(
  Object.entries(IBAN_LENGTHS).flatMap(([length, countries]) =>
    countries.split(" ").map((code) => [code, Number(length)] as const),
  ),
);

/**
 * International bank account numbers (ISO 13616): the length of their country, and the check digits
 * of mod 97.
 */
export const IBAN: TextRule = patternRule(
  /(?<![a-z0-9])[a-z]{2}[ -]?\d[ -]?\d(?:[ -]?[a-z0-9]){11,29}/gi,
  65,
  (match) => {
    const length = LENGTH_OF.get(match.slice(0, 2).toUpperCase());
    if (length === undefined) return 0;
    let end = 0;
    let account = "";
    for (; end < match.length && account.length < length; end++) {
      if (/[a-z0-9]/i.test(match.charAt(end))) account += match.charAt(end);
    }
    if (account.length < length || /^[a-z0-9]/i.test(match.slice(end))) return 0;
    return isMod97(account.slice(4) + account.slice(0, 4)) ? end : 0;
  },
);
