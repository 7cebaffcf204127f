/** How to reach a person: e-mail addresses, telephone numbers, IP addresses. */

import { isIPv6 } from "node:net";
import { patternRule, type TextRule } from "@sluice/kit/guard";

const MAX_LOCAL = 64;
const MAX_DOMAIN = 100;
const LOCAL = /[\p{L}\p{N}._%+'-]/u;
/** Labels with a top level of letters behind them. */
const DOMAIN = /[\p{L}\p{N}][\p{L}\p{N}.-]{0,99}/uy;
const DOTTED = /^(?:[\p{L}\p{N}-]{1,63}\.){1,50}\p{L}{2,24}/u;

/**
 * E-mail addresses, from the sign in the middle to both sides: what stands before the 64 characters
 * that a name may have changes nothing (RFC 5321 4.5.3.1.1). A domain counts up to 100 characters.
 */
export const EMAIL: TextRule = {
  maxLength: MAX_LOCAL + 1 + MAX_DOMAIN,
  find(folded, found) {
    for (let at = folded.indexOf("@"); at >= 0; at = folded.indexOf("@", at + 1)) {
      let start = at;
      while (start > 0 && at - start < MAX_LOCAL && LOCAL.test(folded.charAt(start - 1))) start--;
      DOMAIN.lastIndex = at + 1;
      const [domain] = (start < at && DOMAIN.exec(folded)) || [];
      const [dotted] = (domain !== undefined && DOTTED.exec(domain)) || [];
      if (dotted !== undefined) found(start, at + 1 + dotted.length);
    }
  },
};

/** Calling codes of one and two digits (ITU-T E.164); all others have three. */
const SHORT_CODES = new Set(
  "1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98".split(
    " ",
  ),
);
/** First two digits of the codes that have three. */
const LONG_CODES = new Set(
  "21 22 23 24 25 26 29 35 37 38 42 50 59 67 68 69 80 85 87 88 96 97 99".split(" "),
);
const MIN_DIGITS = 8;
const MAX_DIGITS = 15;

/**
 * Telephone numbers: international ones, with `+` or `00` and a calling code that exists, and North
 * American ones with their separators. A number without either looks like any other number and is
 * not found.
 */
export const PHONE: readonly TextRule[] = [
  patternRule(/(?<![\d+])(?:\+|00)[ ]?\(?[1-9](?:[ ./()-]{0,3}\d){6,14}(?!\d)/g, 64, (match) => {
    const digits = match.replace(/\D/g, "").replace(/^00/, "");
    if (digits.length < MIN_DIGITS || digits.length > MAX_DIGITS) return 0;
    const isKnown =
      SHORT_CODES.has(digits.charAt(0)) ||
      SHORT_CODES.has(digits.slice(0, 2)) ||
      LONG_CODES.has(digits.slice(0, 2));
    return isKnown ? match.length : 0;
  }),
  patternRule(
    /(?<![\d.-])(?:1[ .-]?)?(?:\([2-9]\d\d\)[ ]?|[2-9]\d\d[ .-])[2-9]\d\d[ .-]\d{4}(?![\d-]|\.\d)/g,
    20,
  ),
];

/** IP addresses of both versions. */
export const IP: readonly TextRule[] = [
  patternRule(
    /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|(?![\d.]|\.\d))){4}/g,
    16,
    (match) => (/^(?:\d{1,3}\.){3}\d{1,3}$/.test(match) ? match.length : 0),
  ),
  patternRule(
    /(?<![\w:.])[0-9a-f:]{2,39}(?:(?:\.\d{1,3}){3})?(?![\w:])/gi,
    52,
    (match) => (match.includes(":") && isIPv6(match) && /[0-9a-f]/i.test(match) ? match.length : 0),
    ":",
  ),
];
