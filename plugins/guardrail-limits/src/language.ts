/**
 * The language of a text, cheaply: by its letters, and by its common words where several languages
 * share them.
 */

import { STOP_WORDS } from "./stop-words.ts";

/**
 * Characters that are looked at. The rest of a long text is in the same language, or is not looked
 * for.
 */
const MAX_LOOKED_AT = 4_000;
/** Fewer letters are too few for a decision. Ideographs carry more information. */
const MIN_LETTERS = 20;
const MIN_IDEOGRAPHS = 4;
/** Of the words, so many must be common ones; and the runner-up must have clearly fewer. */
const MIN_SHARE = 0.12;
const MIN_LEAD = 1.25;

const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ["kana", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["han", /\p{Script=Han}/gu],
  ["ko", /\p{Script=Hangul}/gu],
  ["ar", /\p{Script=Arabic}/gu],
  ["he", /\p{Script=Hebrew}/gu],
  ["el", /\p{Script=Greek}/gu],
  ["hi", /\p{Script=Devanagari}/gu],
  ["th", /\p{Script=Thai}/gu],
  ["cyrillic", /\p{Script=Cyrillic}/gu],
  ["latin", /\p{Script=Latin}/gu],
];

/** Detectable languages, by their codes of ISO 639-1. */
export const LANGUAGES: readonly string[] = [
  ...Object.keys(STOP_WORDS),
  "ru",
  "uk",
  "el",
  "ar",
  "he",
  "hi",
  "th",
  "ko",
  "ja",
  "zh",
];

const WORDS = new Map(Object.entries(STOP_WORDS).map(([code, words]) => [code, new Set(words)]));

/**
 * The language that most of a text is in; `undefined` for one that is short, mixed, or no language
 * at all: code, numbers.
 */
export function languageOf(text: string): string | undefined {
  const looked = text.slice(0, MAX_LOOKED_AT);
  const counts = new Map(
    SCRIPTS.map(([script, pattern]) => [script, looked.match(pattern)?.length ?? 0]),
  );
  const of = (script: string): number => counts.get(script) ?? 0;
  const ideographs = of("kana") + of("han");
  const others = [...counts].filter(([script]) => script !== "kana" && script !== "han");
  const [script, letters] = others.reduce((best, one) => (one[1] > best[1] ? one : best));
  // An ideograph is about as much as three letters.
  if (ideographs >= MIN_IDEOGRAPHS && ideographs * 3 > letters)
    return of("kana") * 10 > ideographs ? "ja" : "zh";
  if (letters < (script === "ko" ? MIN_IDEOGRAPHS : MIN_LETTERS)) return undefined;
  if (script === "cyrillic") return cyrillicOf(looked);
  return script === "latin" ? latinOf(looked) : script;
}

/** Russian and Ukrainian have letters that the other one lacks. */
function cyrillicOf(text: string): string | undefined {
  const ukrainian = text.match(/[іїєґІЇЄҐ]/g)?.length ?? 0;
  const russian = text.match(/[ыэъёЫЭЪЁ]/g)?.length ?? 0;
  if (ukrainian === russian) return ukrainian === 0 ? "ru" : undefined;
  return ukrainian > russian ? "uk" : "ru";
}

function latinOf(text: string): string | undefined {
  const words = text.toLowerCase().match(/[\p{Script=Latin}']{1,40}/gu) ?? [];
  let best: string | undefined;
  let most = 0;
  let second = 0;
  for (const [code, common] of WORDS) {
    let count = 0;
    for (const word of words) if (common.has(word)) count++;
    if (count > most) {
      second = most;
      most = count;
      best = code;
    } else if (count > second) second = count;
  }
  return most >= words.length * MIN_SHARE && most >= second * MIN_LEAD ? best : undefined;
}
