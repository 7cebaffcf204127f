import { describe, expect, it } from "vitest";
import { applySpans, orderSpans } from "@sluice/kit/internals";
import { fakeHost, guardrailContract } from "@sluice/testing";
import { Secret, type TextContext, type Verdict } from "@sluice/contract";
import { ENTITIES, ENTITY_NAMES } from "./entities.ts";
import pii from "./index.ts";

const plain = { names: [], action: "mask", actions: {} } as const;
const everything = { ...plain, entities: ENTITY_NAMES, names: ["Ada Lovelace", "Björn"] };

guardrailContract(
  pii,
  {
    config: everything,
    denied: [
      "card 4111-1111-1111-1111 for ada.lovelace@example.com",
      "(+49 30 901820) or 415-555-2671",
      "pay DE89370400440532013000 5 times",
      "from 10.0.0.1 and 2001:db8::ff00:42:8329, ask BJORN",
      "ssn 123-45-6789, nino AB123456C, dni 12345678Z",
    ],
    allowed: [
      "order 4111 1111 1111 1112 of 2026-11-20, version 1.2.3, at 12:30:45",
      "a@b, @home, 1,234,567.89 and 3.14159265358979",
      "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8",
    ],
    // oxlint-disable-next-line no-console -- the report is for the person that runs the suite.
    report: console.info,
  },
  { describe, it },
);

describe("masking, hashing and blocking together", () => {
  const config = {
    ...everything,
    actions: { card: "block", iban: "block", email: "hash" },
    hash_secret: new Secret("HASH", "k".repeat(16)),
  } as const;
  const denied = [
    "card 4111-1111-1111-1111 for ada@example.com",
    "DE89370400440532013000, 10.0.0.1",
  ];
  guardrailContract(
    pii,
    { config, denied, allowed: ["4111 1111 1111 1112", "1 2 3 4 5 6 7 8 9 0 1 2 3"] },
    { describe, it },
  );
});

const context: TextContext = {
  exchange: "e",
  operation: "chat",
  model: "m",
  direction: "input",
  part: "user",
  place: "p",
  isPartial: false,
  offset: 0,
};

function check(
  config: Parameters<typeof pii.create>[0],
  text: string,
  about: Partial<TextContext> = {},
): Verdict {
  const guardrail = pii.create(config, fakeHost());
  return guardrail.check(text, new AbortController().signal, { ...context, ...about }) as Verdict;
}

function edited(config: Parameters<typeof pii.create>[0], text: string): string {
  const verdict = check(config, text);
  return verdict.kind === "edit" ? applySpans(text, orderSpans(verdict.spans, text.length)) : text;
}

describe("hostile texts", () => {
  const long = (text: string): string =>
    text.repeat(Math.ceil(100_000 / text.length)).slice(0, 100_000);
  it.each([
    ["cards in steps of one digit", long("4 ")],
    ["blanks between digits", long("1 2 3 4 5 6 7 8 9 0 ")],
    ["pluses", long("+1 ")],
    ["signs in the middle", long("a@")],
    ["labels", long("a@a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.")],
    ["long locals", long(`${"a".repeat(64)}@`)],
    ["accounts", long("DE89 3704 0044 0532 0130 01 ")],
    ["colons", long("a:1:")],
    ["dots and digits", long("1.1.")],
    ["parentheses", long("+1((((((")],
    ["zero width", long("4\u200b")],
    ["28 digits", "1".repeat(27) + "x"],
  ])("%s", (name, text) => {
    const guardrail = pii.create(everything, fakeHost());
    const signal = new AbortController().signal;
    void guardrail.check(text.slice(0, 1_000), signal, context);
    const startedMs = performance.now();
    const verdict = guardrail.check(text, signal, context) as Verdict;
    // oxlint-disable-next-line no-console -- a figure, for the person that runs the suite.
    console.info(
      `pii: ${name}, ${text.length} characters: ${(performance.now() - startedMs).toFixed(1)} ms`,
    );
    expect(["allow", "edit"]).toContain(verdict.kind);
  });
});

describe("each kind", () => {
  it.each(ENTITY_NAMES)("%s is found in its sample, and not with another check digit", (name) => {
    const { sample, word } = ENTITIES[name];
    const config = { ...plain, entities: [name] };
    expect(edited(config, `so ${sample}, yes`)).toBe(`so [${word}], yes`);
    expect(edited(config, sample)).toBe(`[${word}]`);
  });

  it.each([
    ["card", "4111 1111 1111 1112"],
    ["card", "9111 1111 1111 1111"],
    ["card", "41111111111111111111"],
    ["iban", "DE89 3704 0044 0532 0130 01"],
    ["iban", "XX89 3704 0044 0532 0130 00"],
    ["phone", "+283 30 123456"],
    ["phone", "2026-11-20"],
    ["ip", "1.2.3.4.5"],
    ["ip", "256.1.1.1"],
    ["ip", "12:30:45"],
    ["ip", "::"],
    ["us_ssn", "000-45-6789"],
    ["us_ssn", "123-45 6789"],
    ["es_dni", "12345678A"],
    ["de_tax_id", "86095742718"],
    ["fr_nir", "2 55 08 14 168 025 39"],
    ["it_codice_fiscale", "RSSMRA85T10A562T"],
    ["uk_nino", "GB 12 34 56 C"],
    ["nl_bsn", "111222334"],
    ["pl_pesel", "44051401358"],
    ["ch_ahv", "756.9217.0769.84"],
    ["se_personnummer", "811228-9873"],
    ["br_cpf", "529.982.247-24"],
    ["be_national", "85.07.30-033.29"],
    ["email", "ada@localhost"],
  ] as const)("%s is not in %s", (name, text) => {
    expect(check({ ...plain, entities: [name] }, `so ${text} yes`)).toEqual({ kind: "allow" });
  });

  it.each([
    ["ada.b+c@mail.example.co.uk.", "[EMAIL]."],
    ["x".repeat(80) + "@example.com", `${"x".repeat(16)}[EMAIL]`],
    ["ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ", "[EMAIL]"],
    ["4111\u200b1111 1111 1111", "[CARD]"],
    ["5 4111 1111 1111 1111 5", "5 [CARD] 5"],
    ["3782 822463 10005", "[CARD]"],
    ["0049 (30) 901820", "[PHONE]"],
    ["(415) 555-2671", "[PHONE]"],
    ["de89 3704 0044 0532 0130 00 x", "[IBAN] x"],
    ["::ffff:192.0.2.1 x", "[IP] x"],
    ["http://[2001:db8::1]:80/", "http://[[IP]]:80/"],
    ["Björn, bjo\u0308rn, BJÖRN, Björna", "[NAME], [NAME], [NAME], Björna"],
    ["ada\u00a0LOVELACE", "[NAME]"],
  ])("finds it however it is written: %s", (text, expected) => {
    expect(edited(everything, text)).toBe(expected);
  });
});

describe("actions", () => {
  it("hashes with the key: the same for the same number, and another one with another key", () => {
    const config = (key: string) => ({
      ...plain,
      action: "hash" as const,
      hash_secret: new Secret("HASH", key),
    });
    const one = edited(config("k".repeat(16)), "4111 1111 1111 1111");
    expect(one).toMatch(/^\[CARD:[0-9a-f]{16}\]$/);
    expect(edited(config("k".repeat(16)), "4111-1111-1111-1111")).toBe(one);
    expect(edited(config("l".repeat(16)), "4111 1111 1111 1111")).not.toBe(one);
  });

  it("restores what goes upstream, and masks what a model writes", () => {
    const config = { ...plain, action: "restore" as const };
    expect(check(config, "ada@example.com")).toEqual({
      kind: "edit",
      spans: [{ start: 0, end: 15, replacement: "EMAIL", restore: true }],
    });
    expect(check(config, "ada@example.com", { direction: "output" })).toEqual({
      kind: "edit",
      spans: [{ start: 0, end: 15, replacement: "[EMAIL]" }],
    });
  });

  it("blocks with the kind as its reason and the place of the first, and says what is masked besides", () => {
    const config = { ...plain, actions: { card: "block" as const } };
    expect(check(config, "ada@example.com 4111111111111111")).toEqual({
      kind: "block",
      reason: "card",
      start: 16,
      end: 32,
      spans: [{ start: 0, end: 15, replacement: "[EMAIL]" }],
    });
  });

  it("leaves the arguments of a call what they are: JSON", () => {
    const text = JSON.stringify({ to: "x\nada@example.com\t4111111111111111", who: "by\nBjörn" });
    const verdict = check(everything, text, { part: "arguments" });
    const left =
      verdict.kind === "edit" ? applySpans(text, orderSpans(verdict.spans, text.length)) : "";
    expect(JSON.parse(left)).toEqual({ to: "x\n[EMAIL]\t[CARD]", who: "by\n[NAME]" });
  });

  it("refuses to look for nothing", () => {
    expect(pii.check?.({ ...plain, entities: [] })).toHaveLength(1);
    expect(pii.check?.({ ...plain, entities: [], names: ["Ada"] })).toEqual([]);
  });
});
