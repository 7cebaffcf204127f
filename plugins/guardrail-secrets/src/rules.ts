/**
 * The forms of credentials, each bounded. They follow the issuers' documentation and begin with an
 * unmistakable prefix. Of a token longer than its bound, the part up to the bound is found: the
 * rest is useless.
 */

import { patternRule, type TextRule } from "@sluice/kit/guard";

/** A kind of credential. */
export interface SecretRule {
  readonly rule: TextRule;
  /**
   * The rule that is used where a match must be replaced whole; only of credentials too long for a
   * stream.
   */
  readonly whole?: TextRule;
  /**
   * Pieces of a sample; they are put together when it is needed, so that nothing here looks like a
   * leak.
   */
  readonly sample: readonly string[];
}

const token = (pattern: RegExp, maxLength: number, ...sample: string[]): SecretRule => ({
  rule: patternRule(pattern, maxLength),
  sample,
});

const LETTERS = "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUxabcdefgh7Q2";
const HEXADECIMAL = "0123456789abcdef".repeat(4);

/** Names of rules, and the rules. */
export const RULES = {
  aws: token(
    /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/g,
    20,
    "AKIA",
    "IOSFODNN7ABCDEFG",
  ),
  google: token(
    /(?<![\w-])(?:AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,200})/g,
    205,
    "AIza",
    LETTERS.slice(0, 35),
  ),
  github: token(
    /(?<![A-Za-z0-9])(?:gh[opsur]_[A-Za-z0-9]{36,200}|github_pat_\w{60,100})/g,
    204,
    "ghp",
    "_",
    LETTERS.slice(0, 36),
  ),
  gitlab: token(
    /(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt|cbt|soat)-[\w-]{20,64}/g,
    72,
    "glpat",
    "-",
    LETTERS.slice(0, 20),
  ),
  slack: token(
    /(?<![A-Za-z0-9])(?:xox[abeoprs]-[A-Za-z0-9-]{10,150}|xapp-\d-[A-Za-z0-9-]{10,150})|hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9/]{20,80}/g,
    160,
    "xoxb",
    "-123456789012-",
    LETTERS.slice(0, 24),
  ),
  openai: token(
    /(?<![A-Za-z0-9])sk-(?!ant-)(?=[\w-]{0,40}\d)[\w-]{20,200}/g,
    203,
    "sk",
    "-proj-",
    LETTERS,
  ),
  anthropic: token(
    /(?<![A-Za-z0-9])sk-ant-[a-z]{2,8}\d{2}-[\w-]{24,150}/g,
    170,
    "sk",
    "-ant-api03-",
    LETTERS,
  ),
  stripe: token(
    /(?<![A-Za-z0-9])(?:[prs]k_(?:live|test)_|whsec_)[A-Za-z0-9]{16,150}/g,
    160,
    "sk_",
    "live_",
    LETTERS.slice(0, 24),
  ),
  npm: token(
    /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])|:_authToken=[^\s"']{8,100}/g,
    112,
    "npm",
    "_",
    LETTERS.slice(0, 36),
  ),
  pypi: token(/(?<![A-Za-z0-9])pypi-AgE[\w-]{40,200}/g, 208, "pypi", "-AgE", LETTERS),
  huggingface: token(
    /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])/g,
    37,
    "hf",
    "_",
    LETTERS.slice(0, 34),
  ),
  azure: token(
    /(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,88}={0,2}/g,
    107,
    "Account",
    "Key=",
    LETTERS,
    LETTERS.slice(0, 39),
    "==",
  ),
  digitalocean: token(/(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}/g, 71, "dop", "_v1_", HEXADECIMAL),
  shopify: token(
    /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g,
    38,
    "shpat",
    "_",
    HEXADECIMAL.slice(0, 32),
  ),
  sendgrid: token(
    /(?<![A-Za-z0-9])SG\.[\w-]{16,32}\.[\w-]{16,64}/g,
    100,
    "SG",
    ".",
    LETTERS.slice(0, 22),
    ".",
    LETTERS.slice(0, 43),
  ),
  telegram: token(
    /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{33}(?![\w-])/g,
    46,
    "123456789",
    ":AA",
    LETTERS.slice(0, 33),
  ),
  groq: token(
    /(?<![A-Za-z0-9])(?:gsk_[A-Za-z0-9]{52}|xai-[A-Za-z0-9]{80})(?![A-Za-z0-9])/g,
    84,
    "gsk",
    "_",
    LETTERS,
    "abcde",
  ),
  vault: token(/(?<![A-Za-z0-9])hv[bs]\.[\w-]{24,200}/g, 204, "hvs", ".", LETTERS),
  databricks: token(
    /(?<![A-Za-z0-9])dapi[0-9a-f]{32}(?![0-9a-f])/g,
    36,
    "da",
    "pi",
    HEXADECIMAL.slice(0, 32),
  ),
  docker: token(
    /(?<![A-Za-z0-9])dckr_[op]at_[\w-]{24,40}/g,
    50,
    "dckr",
    "_pat_",
    LETTERS.slice(0, 27),
  ),
  linear: token(
    /(?<![A-Za-z0-9])(?:lin_api_[A-Za-z0-9]{40}|ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})(?![A-Za-z0-9])/g,
    54,
    "lin",
    "_api_",
    LETTERS.slice(0, 40),
  ),
  grafana: token(
    /(?<![A-Za-z0-9])(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{32,200}={0,2})/g,
    206,
    "glsa",
    "_",
    LETTERS.slice(0, 32),
    "_0a1b2c3d",
  ),
  figma: token(/(?<![A-Za-z0-9])figd_[\w-]{20,64}/g, 69, "figd", "_", LETTERS.slice(0, 40)),
  tailscale: token(
    /(?<![A-Za-z0-9])tskey-[a-z]{2,10}-[A-Za-z0-9]{6,32}-[A-Za-z0-9]{10,64}/g,
    114,
    "tskey",
    "-auth-kABCDEF1CNTRL-",
    LETTERS.slice(0, 32),
  ),
  onepassword: token(/(?<![A-Za-z0-9])ops_eyJ[\w-]{40,200}/g, 207, "ops", "_eyJ", LETTERS),
  basic_auth: {
    rule: patternRule(
      /(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}:\/\/[^\s:/?#@"'<>]{0,64}:[^\s/?#@"'<>]{1,128}@(?=[\w[])/g,
      220,
      undefined,
      "://",
    ),
    sample: ["postgres", "://user:", "pa55word", "@db.example.com"],
  },
  assignment: {
    rule: { maxLength: 180, find: findAssigned },
    sample: ["client_", 'secret = "', LETTERS.slice(0, 24)],
  },
  jwt: {
    rule: patternRule(/(?<![\w-])eyJ[\w-]{10,200}\.eyJ[\w-]{4}/g, 211),
    whole: patternRule(/(?<![\w-])eyJ[\w-]{10,200}\.eyJ[\w-]{4,1800}(?:\.[\w-]{0,700})?/g, 2_710),
    sample: ["eyJ", "hbGciOiJIUzI1NiJ9.", "eyJ", "zdWIiOiIxMjM0In0.", LETTERS.slice(0, 43)],
  },
  private_key: {
    rule: patternRule(/-----BEGIN (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g, 70),
    // The body has no hyphen, so that a search for the end never runs over another beginning.
    whole: patternRule(
      /-----BEGIN (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s{0,4}(?:Proc-Type|DEK-Info|Version|Comment): [^\n]{0,100}){0,4}[A-Za-z0-9+/=\s\\]{0,6500}(?:-----END (?:[A-Z0-9]{2,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?/g,
      7_140,
    ),
    sample: ["-----BEGIN ", "PRIVATE KEY", "-----\nMIIEvQIBADANBg\n-----END ", "PRIVATE KEY-----"],
  },
} as const satisfies Readonly<Record<string, SecretRule>>;

/** The name of a rule. */
export type RuleName = keyof typeof RULES;

/** The names of all rules. */
export const RULE_NAMES = Object.keys(RULES) as RuleName[];

/** Bits of a character from which on a value counts as random. English words have about 3. */
const MIN_BITS = 3.2;

/** A name that announces a credential, and its value. */
const ASSIGNMENT =
  /(?:secret|token|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|auth[_-]?key|credential)[\w-]{0,16}["'`]?[ \t]{0,4}(?::=|=>|[:=])[ \t]{0,4}["'`]?([A-Za-z0-9+/_.~!@#$%^&*-]{12,128}={0,2})/gi;

/**
 * Values of assignments, without the name: what stands there instead must leave JSON what it is.
 */
function findAssigned(folded: string, found: (start: number, end: number) => void): void {
  ASSIGNMENT.lastIndex = 0;
  for (let match = ASSIGNMENT.exec(folded); match !== null; match = ASSIGNMENT.exec(folded)) {
    const [all, value = ""] = match;
    const end = match.index + all.length;
    if (isRandom(value)) found(end - value.length, end);
    ASSIGNMENT.lastIndex = match.index + 1;
  }
}

/**
 * Whether a value has letters and digits, and as many different characters as chance would give it.
 */
function isRandom(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value) && bitsOf(value) >= MIN_BITS;
}

/** Shannon's entropy of a text, in bits a character. */
function bitsOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
