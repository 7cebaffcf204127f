/** YAML's syntax errors in plain words. */

import type { YAMLError } from "yaml";

interface Explanation {
  readonly message: string;
  readonly fix: string;
}

/**
 * An alias without an anchor. The parser reports few of them; the reader of the values finds the
 * others.
 */
export const DANGLING_ALIAS: Explanation = {
  message: "the alias (*name) names no anchor (&name) above it",
  fix: "write the value out; quote a value that begins with *",
};

const EXPLANATIONS: Readonly<Partial<Record<YAMLError["code"], Explanation>>> = {
  BAD_INDENT: {
    message: "the indentation of the line matches no line above it",
    fix: "indent it like its neighbours, with two spaces per level",
  },
  TAB_AS_INDENT: { message: "the line is indented with a tab", fix: "indent with spaces" },
  MISSING_CHAR: {
    message: "a closing quote, bracket or brace, or a comma is missing",
    fix: "close the quote, bracket or brace before this place, or add the comma",
  },
  BAD_ALIAS: DANGLING_ALIAS,
  BAD_SCALAR_START: {
    message: "a plain value cannot begin with this character",
    fix: "put the value in quotes",
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "a line holds two keys, or a value holds `: `",
    fix: "put the value in quotes, or begin a new line",
  },
  BLOCK_IN_FLOW: {
    message: "brackets or braces contain an indented block",
    fix: "close the bracket or brace first",
  },
  MULTILINE_IMPLICIT_KEY: { message: "a key has no colon", fix: "write `key: value` on one line" },
  MULTIPLE_DOCS: { message: "the file holds more than one document", fix: "remove the `---` line" },
  MULTIPLE_TAGS: { message: "a value has more than one tag", fix: "remove the tags (!name)" },
  NON_STRING_KEY: {
    message: "a key is not plain text",
    fix: "write a plain word before the colon",
  },
  TAG_RESOLVE_FAILED: { message: "the file uses an unknown tag (!name)", fix: "remove the tag" },
  UNEXPECTED_TOKEN: {
    message: "the text here is unexpected",
    fix: "look for a missing quote, colon or bracket before this place",
  },
  RESOURCE_EXHAUSTION: { message: "the file is nested too deeply", fix: "reduce the nesting" },
};

/** Characters that are no bracket and no quote, by the beginning of what the parser says. */
const MISSING: readonly (Explanation & { readonly said: string })[] = [
  {
    said: "Implicit map keys",
    message: "a key has no colon",
    fix: "write `key: value` on one line",
  },
  {
    said: "Sequence item without",
    message: "an entry of the list lacks its dash",
    fix: "begin the line with `- `",
  },
];

const UNQUOTED_REFERENCE: Explanation = {
  message: "a reference between brackets or braces is not in quotes",
  fix: 'write "${env:NAME}": the brace that ends it would end the section',
};

/** Whether the line up to a fault has `${…}` without quotes behind an opening bracket or brace. */
function isAtReference({ pos: [offset] }: YAMLError, text: string): boolean {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const [line = ""] = text.slice(start).split("\n", 1);
  const plain = line.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '""');
  return /[[{].*[:,[]\s*\$\{/.test(plain);
}

/** What is wrong and what to do about a syntax error. `text` is the file's text. */
export function explainSyntax(error: YAMLError, text: string): Explanation {
  if (error.code === "DUPLICATE_KEY") {
    const key = /^(?:"([^"\n]*)"|'([^'\n]*)'|([^:\s]+))/.exec(text.slice(error.pos[0]));
    const name = key?.[1] ?? key?.[2] ?? key?.[3] ?? "a key";
    return { message: `\`${name}\` is written twice in one place`, fix: "keep one of the two" };
  }
  if (isAtReference(error, text)) return UNQUOTED_REFERENCE;
  const missing =
    error.code === "MISSING_CHAR"
      ? MISSING.find(({ said }) => error.message.startsWith(said))
      : undefined;
  if (missing !== undefined) return { message: missing.message, fix: missing.fix };
  // The parser calls a bracket that is still open at the next key a fault of indentation.
  const code =
    error.code === "BAD_INDENT" && error.message.startsWith("Flow ") ? "MISSING_CHAR" : error.code;
  return (
    EXPLANATIONS[code] ?? {
      message: `the file is not valid YAML: ${error.message}`,
      fix: "correct the line",
    }
  );
}
