/** Texts as a model reads them, whatever they are dressed up as. */

import { withoutHidden } from "./hidden.ts";

/** Letters of other alphabets that look like Latin ones (Unicode TR 39). */
const LOOKALIKES: Readonly<Record<string, string>> = {
  а: "a",
  в: "b",
  с: "c",
  ԁ: "d",
  е: "e",
  һ: "h",
  і: "i",
  ј: "j",
  к: "k",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  ѕ: "s",
  т: "t",
  у: "y",
  х: "x",
  α: "a",
  ε: "e",
  ι: "i",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  χ: "x",
  ı: "i",
  ℓ: "l",
};
const LOOKALIKE = new RegExp(`[${Object.keys(LOOKALIKES).join("")}]`, "gu");
/** Digits and signs in place of letters, between letters. */
const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
};
/** A word spelled letter by letter. */
const SPELLED = /(?<![\p{L}\d])(?:[\p{L}\d][ .\-_*|/]){5,200}[\p{L}\d](?![\p{L}\d])/gu;

/**
 * A text in one form: without what is hidden, composed, in lower case, one blank for any white
 * space.
 */
export function folded(text: string): string {
  return withoutHidden(text.normalize("NFKC")).toLowerCase().replace(/\s+/g, " ");
}

/** A folded text in Latin letters without their marks. */
export function latin(text: string): string {
  return text
    .replace(LOOKALIKE, (letter) => LOOKALIKES[letter] ?? letter)
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "");
}

/**
 * The words that are spelled letter by letter or with digits, written as words; `undefined` when
 * there are none.
 */
export function respelled(text: string): string | undefined {
  const joined = text.replace(SPELLED, (word) =>
    // Between words stands a blank where there are other signs between letters.
    /[.\-_*|/]/.test(word) ? word.replace(/[.\-_*|/]/g, "") : word.replace(/ /g, ""),
  );
  const read = joined.replace(/(?<=[a-z])[013457@$](?=[a-z])/g, (sign) => LEET[sign] ?? sign);
  return read === text ? undefined : read;
}
