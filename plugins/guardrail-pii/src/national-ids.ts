/** Numbers that states give to people. Each with its check digits, where it has some. */

import { patternRule, type TextRule } from "@sluice/kit/guard";
import { digitsOf, isLuhn, isMod11And10, remainder, weighted } from "./checksums.ts";

const all = (isValid: (digits: number[], match: string) => boolean) => (match: string) =>
  isValid(digitsOf(match), match) ? match.length : 0;

/**
 * United States: social security number, with its hyphens or blanks. It has no check digit; parts
 * that are never given are left out.
 */
export const US_SSN = patternRule(
  /(?<![\d-])(?!000|666|9)\d{3}([ -])(?!00)\d\d\1(?!0000)\d{4}(?![\d-])/g,
  11,
);

const DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE";

/** Spain: DNI, and NIE of foreigners. The letter is the remainder of 23. */
export const ES_DNI = patternRule(
  /(?<![a-z0-9])(?:\d{8}|[xyz]-?\d{7})-?[a-z](?![a-z0-9])/gi,
  11,
  (match) => {
    const number = match
      .slice(0, -1)
      .replace(/-/g, "")
      .replace(/[xyz]/i, (letter) => String("XYZ".indexOf(letter.toUpperCase())));
    return DNI_LETTERS.charAt(Number(number) % 23) === match.slice(-1).toUpperCase()
      ? match.length
      : 0;
  },
);

/**
 * Germany: Steuer-Identifikationsnummer. Among its first ten digits one stands twice or three
 * times.
 */
export const DE_TAX_ID = patternRule(
  /(?<![\d.,-])[1-9]\d(?: ?\d{3}){3}(?![\d-]|[.,]\d)/g,
  14,
  all((digits) => {
    const counts = digits
      .slice(0, 10)
      .reduce(
        (seen, digit) => seen.set(digit, (seen.get(digit) ?? 0) + 1),
        new Map<number, number>(),
      );
    const repeated = [...counts.values()].filter((count) => count > 1);
    return repeated.length === 1 && (repeated[0] ?? 0) <= 3 && isMod11And10(digits);
  }),
);

/** France: NIR, the number of social security, with its key. */
export const FR_NIR = patternRule(
  /(?<![a-z0-9])[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d\d|2[ab]) ?\d{3} ?\d{3} ?\d\d(?![a-z0-9])/gi,
  21,
  (match) => {
    const number = match.replace(/ /g, "").replace(/2a/i, "19").replace(/2b/i, "18");
    return 97 - remainder(number.slice(0, 13), 97) === Number(number.slice(13)) ? match.length : 0;
  },
);

const CF_ODD = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

/** Italy: codice fiscale. Letters may stand for digits where two people would have the same. */
export const IT_CODICE_FISCALE = patternRule(
  /(?<![a-z0-9])[a-z]{6}[\dl-np-v]{2}[a-ehlmprst][\dl-np-v]{2}[a-z][\dl-np-v]{3}[a-z](?![a-z0-9])/gi,
  16,
  (match) => {
    const values = Array.from(match.toUpperCase().slice(0, 15), (one) =>
      one >= "A" ? one.charCodeAt(0) - 65 : Number(one),
    );
    const sum = values.reduce(
      (total, value, at) => total + (at % 2 === 0 ? (CF_ODD[value] ?? 0) : value),
      0,
    );
    return String.fromCharCode(65 + (sum % 26)) === match.slice(-1).toUpperCase()
      ? match.length
      : 0;
  },
);

/**
 * United Kingdom: national insurance number. It has no check digit; letters that are never given
 * are left out.
 */
export const UK_NINO = patternRule(
  /(?<![a-z0-9])(?!bg|gb|kn|nk|nt|tn|zz)[abceghj-prstw-z][abceghj-nprstw-z] ?\d\d ?\d\d ?\d\d ?[a-d](?![a-z0-9])/gi,
  13,
);

/** Netherlands: burgerservicenummer. One in eleven numbers of nine digits passes its test. */
export const NL_BSN = patternRule(
  /(?<![\d.,-])\d{9}(?![\d-]|[.,]\d)/g,
  9,
  all(
    (digits) =>
      digits.some((digit) => digit > 0) &&
      weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
  ),
);

/** Poland: PESEL, which begins with a date of birth. */
export const PL_PESEL = patternRule(
  /(?<![\d.,-])\d\d(?:[02468][1-9]|[13579][0-2])(?:0[1-9]|[12]\d|3[01])\d{5}(?![\d-]|[.,]\d)/g,
  11,
  all(
    (digits) => (10 - (weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10 === digits[10],
  ),
);

/** Switzerland: AHV number. */
export const CH_AHV = patternRule(
  /(?<![\d.])756[. ]?\d{4}[. ]?\d{4}[. ]?\d\d(?!\d)/g,
  16,
  all((digits) => weighted(digits, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0),
);

/** Sweden: personnummer, with its sign before the last four digits. */
export const SE_PERSONNUMMER = patternRule(
  /(?<![\d-])(?:19|20)?\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+]\d{4}(?![\d-])/g,
  13,
  all((digits) => isLuhn(digits.slice(-10))),
);

/** Brazil: CPF, with two check digits. */
export const BR_CPF = patternRule(
  /(?<![\d.])\d{3}\.?\d{3}\.?\d{3}-\d\d(?![\d-])/g,
  14,
  all((digits) => {
    const check = (count: number): number =>
      ((weighted(
        digits.slice(0, count),
        Array.from({ length: count }, (_none, at) => count + 1 - at),
      ) *
        10) %
        11) %
      10;
    return new Set(digits).size > 1 && check(9) === digits[9] && check(10) === digits[10];
  }),
);

/** Belgium: national register number, whose key is 97 minus a remainder. */
export const BE_NATIONAL: TextRule = patternRule(
  /(?<![\d.-])\d\d\.?(?:0\d|1[0-2])\.?[0-3]\d[ -]?\d{3}[.-]?\d\d(?![\d-]|\.\d)/g,
  15,
  all((digits) => {
    const number = digits.join("");
    const key = Number(number.slice(9));
    return ["", "2"].some((century) => 97 - remainder(century + number.slice(0, 9), 97) === key);
  }),
);
