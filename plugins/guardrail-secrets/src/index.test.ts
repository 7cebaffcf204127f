import { describe, expect, it } from "vitest";
import { applySpans, orderSpans } from "@sluice/kit/internals";
import { fakeHost, guardrailContract } from "@sluice/testing";
import type { TextContext, Verdict } from "@sluice/contract";
import secrets from "./index.ts";
import { RULE_NAMES, RULES } from "./rules.ts";

const masking = {
  rules: RULE_NAMES,
  except: [],
  action: "mask",
  long_secrets: "mask",
  replacement: "[SECRET]",
} as const;
const blocking = { ...masking, action: "block", long_secrets: "block" } as const;

const sampleOf = (name: keyof typeof RULES): string => RULES[name].sample.join("");
const texts = {
  denied: RULE_NAMES.map((name) => `see ${sampleOf(name)} end`),
  allowed: [
    "task-list, sk-learn, the password is not here, token: none",
    "https://example.com:8080/path?a=b@c and git@example.com:a/b",
    "sha256 0123456789abcdef0123456789abcdef, eyJ is a prefix",
    "-----BEGIN CERTIFICATE-----",
    "max_tokens: 4096, token_type = bearer_authorization",
  ],
  // oxlint-disable-next-line no-console -- the report is for the person that runs the suite.
  report: console.info,
};

guardrailContract(secrets, { config: masking, ...texts }, { describe, it });

describe("blocking", () => {
  guardrailContract(
    secrets,
    { config: blocking, denied: texts.denied, allowed: texts.allowed },
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

function check(config: Parameters<typeof secrets.create>[0], text: string): Verdict {
  return secrets
    .create(config, fakeHost())
    .check(text, new AbortController().signal, context) as Verdict;
}

describe("hostile texts", () => {
  const long = (text: string): string =>
    text.repeat(Math.ceil(100_000 / text.length)).slice(0, 100_000);
  const begin = "-----BEGIN PRIVATE KEY-----";
  it.each([
    ["beginnings of keys", long(begin)],
    ["beginnings of keys and much behind them", long(begin + "A".repeat(7_000))],
    ["token after token", long("token=")],
    ["values", long("token:aB3dE6gH9jK2mN5pQ8s,")],
    ["beginnings of web tokens", long("eyJ")],
    ["prefixes", long("sk-")],
    ["addresses", long("https://a:b")],
    ["schemes", long("a+")],
    ["two colons", long("://a:")],
    ["28 characters", "a".repeat(27) + "!"],
  ])("%s", (name, text) => {
    const guardrail = secrets.create(masking, fakeHost());
    const signal = new AbortController().signal;
    void guardrail.check(text.slice(0, 1_000), signal, context);
    const startedMs = performance.now();
    const verdict = guardrail.check(text, signal, context) as Verdict;
    // oxlint-disable-next-line no-console -- a figure, for the person that runs the suite.
    console.info(
      `secrets: ${name}, ${text.length} characters: ${(performance.now() - startedMs).toFixed(1)} ms`,
    );
    expect(["allow", "edit"]).toContain(verdict.kind);
  });
});

describe("each rule", () => {
  it.each(RULE_NAMES)("%s finds its sample, whole", (name) => {
    const text = `a ${sampleOf(name)} z`;
    const verdict = check({ ...masking, rules: [name] }, text);
    const left =
      verdict.kind === "edit" ? applySpans(text, orderSpans(verdict.spans, text.length)) : "";
    const host = name === "basic_auth" ? "db.example.com" : "";
    // Of an assignment the name stays.
    expect(left.replace('client_secret = "', "")).toBe(`a [SECRET]${host} z`);
    expect(check({ ...blocking, rules: [name] }, text)).toMatchObject({
      kind: "block",
      reason: name,
      start: name === "assignment" ? 19 : 2,
    });
    expect(
      check({ ...blocking, except: [name], rules: [name, "aws"] }, name === "aws" ? "x" : "nothing")
        .kind,
    ).toBe("allow");
  });

  it("leaves the arguments of a call what they are: JSON", () => {
    const text = JSON.stringify({
      password: `aB3dE6gH9jK2mN5pQ8s`,
      note: `a\n${sampleOf("aws")}\n${sampleOf("private_key")}`,
    });
    const about = { ...context, part: "arguments" } as const;
    const verdict = secrets
      .create(masking, fakeHost())
      .check(text, new AbortController().signal, about) as Verdict;
    const left =
      verdict.kind === "edit" ? applySpans(text, orderSpans(verdict.spans, text.length)) : "";
    expect(JSON.parse(left)).toEqual({ password: "[SECRET]", note: "a\n[SECRET]\n[SECRET]" });
  });

  it("masks a private key to its end, and what is left of one without an end", () => {
    const body = `${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7".repeat(2)}\n`.repeat(40);
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${body}-----END RSA PRIVATE KEY-----`;
    const mask = (text: string): string => {
      const verdict = check(masking, text);
      return verdict.kind === "edit"
        ? applySpans(text, orderSpans(verdict.spans, text.length))
        : text;
    };
    expect(mask(`a ${key} z`)).toBe("a [SECRET] z");
    expect(mask(`a ${key.slice(0, -40)}`)).toBe("a [SECRET]");
  });

  it("holds back little unless long secrets are masked", () => {
    expect(secrets.create(blocking, fakeHost()).reach).toBeLessThan(300);
    expect(secrets.create({ ...masking, long_secrets: "block" }, fakeHost()).reach).toBeLessThan(
      300,
    );
    expect(secrets.create(masking, fakeHost()).reach).toBeGreaterThan(7_000);
  });

  it("refuses to look for nothing", () => {
    expect(secrets.check?.({ ...masking, rules: ["aws"], except: ["aws"] })).toHaveLength(1);
  });
});
