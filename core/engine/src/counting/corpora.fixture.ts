/** Texts of several kinds, each of 10,000 characters or more, the same in every run. */

/** A generator of numbers from 0 to 1 that always says the same. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

const ENGLISH =
  "the of and to in gateway request that for it was with his upstream they at be this from have provider or had by tokens".split(
    " ",
  );
/** The commonest Chinese characters, and some of Japanese and Korean. */
const CJK = [
  ..."的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如",
];
const JAPANESE = [
  ..."のにはをたがでてとしれさあるいるもするからなことこの日本語東京大学時間新聞社会人間カタカナテスト。、",
];
const KOREAN = [..."이가는을에의로한국어서울대학교시간사람들이있다것을하고그리고그러나"];

function words(random: () => number, count: number): string {
  const pick = (): string => ENGLISH[Math.floor(random() * ENGLISH.length)] ?? "";
  return Array.from(
    { length: count },
    () => pick() + (random() < 0.1 ? ", " : random() < 0.08 ? ".\n" : " "),
  ).join("");
}

function characters(random: () => number, alphabet: readonly string[], count: number): string {
  return Array.from(
    { length: count },
    () => alphabet[Math.floor(alphabet.length * random() * random())],
  ).join("");
}

function code(random: () => number, lines: number): string {
  const name = (): string => `value${Math.floor(random() * 999)}`;
  const line = (): string =>
    `${" ".repeat(2 * Math.floor(random() * 4))}const ${name()} = await ${name()}.map((x) => x.${name()} ?? ${Math.floor(random() * 1e6)}); // ${words(random, 4)}`;
  return Array.from({ length: lines }, line).join("\n");
}

function json(random: () => number, members: number): string {
  const value = (): unknown =>
    [random(), words(random, 3), null, [1, 2, 3], true][Math.floor(random() * 5)];
  return JSON.stringify(
    Object.fromEntries(Array.from({ length: members }, (_, index) => [`key_${index}`, value()])),
    undefined,
    2,
  );
}

function emoji(random: () => number, count: number): string {
  return Array.from({ length: count }, () =>
    String.fromCodePoint(0x1f300 + Math.floor(random() * 700)),
  ).join("");
}

const random = createRandom(7);

/** The texts by their kind. */
export const CORPORA: Readonly<Record<string, string>> = {
  English: words(random, 4_000),
  code: code(random, 300),
  JSON: json(random, 700),
  "Chinese without a break": characters(random, CJK, 12_000),
  Japanese: characters(random, JAPANESE, 12_000),
  Korean: characters(random, [...KOREAN, " "], 12_000),
  Cyrillic: characters(random, [..."аеиноюстрвлкмдпубяйчыгзжхщэ  "], 20_000),
  emoji: emoji(random, 6_000),
  "letters without a break": characters(random, [..."etaoinshrdlucmfwypvbgkjqxz"], 12_000),
  "base64 without a break": characters(
    random,
    [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"],
    20_000,
  ),
  "white space": characters(random, [" ", "\n", "\t", " "], 12_000),
  mixed: [
    words(random, 500),
    characters(random, CJK, 3_000),
    emoji(random, 500),
    code(random, 50),
    json(random, 100),
  ].join("\n\n"),
};
