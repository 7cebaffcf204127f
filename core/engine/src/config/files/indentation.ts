/**
 * The line of a YAML text whose indentation is wrong. The parser names it late, or names a line
 * that follows from it.
 */

/** A wrong line: one-based line and column, what is wrong and what to do. */
export interface Misindented {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix: string;
}

/** A depth at which lines stand. */
interface Level {
  readonly indent: number;
  readonly isList: boolean;
  /** The last line that stands there. */
  line: number;
  /** Whether its last key has no value on its own line: deeper lines are that value. */
  isOpen: boolean;
  /** Whether it is neither a key nor an entry: a word alone lacks its colon. */
  isWord?: boolean;
}

/** The last line that ended deeper levels, and these. */
interface Ending {
  readonly line: number;
  readonly indent: number;
  readonly levels: readonly Level[];
}

type WrongLine = Pick<Level, "line" | "indent" | "isList">;

const WITHOUT_COLON = {
  message: "a key has no colon",
  fix: "write `key: value` on one line, or `key:` above the lines of a section",
};
const FIX = "indent it like its neighbours, two spaces a level";
const FITS_NOTHING = "the indentation of the line matches no line above it";
/** Blanks that are no indentation: those of other widths, joiners, marks of a byte order. */
const OTHER_BLANK = /[\u00a0\u1680\u180e\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]/u;

/**
 * Finds the first line whose indentation matches no line above it, up to the line that the parser
 * refused. It reads block lines only: texts of several lines are passed over, and at a tab or at
 * brackets over several lines it ends, because the parser names these.
 */
export function misindentedLine(text: string, lastLine: number): Misindented | undefined {
  const reader = new BlockLines();
  let textDeeperThan = Infinity;
  for (const [index, written] of text.split(/\r?\n/, lastLine).entries()) {
    const content = written.trim();
    const indent = written.length - written.trimStart().length;
    if (content === "" || content.startsWith("#") || /^(?:---|\.\.\.|%)/.test(written)) continue;
    if (indent > textDeeperThan) continue;
    textDeeperThan = Infinity;
    const blank = index === 0 ? undefined : otherBlank(written, index + 1);
    if (blank !== undefined) return blank;
    if (written.slice(0, indent).includes("\t")) return undefined;
    const fault = reader.take(index + 1, indent, content);
    if (fault !== undefined) return fault;
    const value = valueOf(content);
    if (/^[|>][-+0-9]*$/.test(value)) textDeeperThan = reader.indent;
    else if (spansLines(value)) return undefined;
  }
  return undefined;
}

function otherBlank(written: string, line: number): Misindented | undefined {
  const [before = ""] = /^\s*/.exec(written) ?? [];
  const column = before.search(OTHER_BLANK);
  if (column < 0) return undefined;
  const code = (before.codePointAt(column) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const message = `the line is indented with a character that only looks like a blank (U+${code})`;
  return { line, column: column + 1, message, fix: "indent with spaces" };
}

class BlockLines {
  readonly #levels: Level[] = [];
  #ending: Ending | undefined;

  /** Where the innermost level stands. */
  get indent(): number {
    return this.#levels.at(-1)?.indent ?? 0;
  }

  /** Takes a line. Returns the wrong line, which may be one above it. */
  take(line: number, indent: number, content: string): Misindented | undefined {
    const levels = this.#levels;
    const isItem = /^-(?:\s|$)/.test(content);
    const ended: Level[] = [];
    for (let last = levels.at(-1); last !== undefined && last.indent > indent; last = levels.at(-1))
      ended.push(...levels.splice(-1));
    const top = levels.at(-1);
    if (top === undefined) levels.push({ indent, isList: isItem, line, isOpen: false });
    else if (top.indent < indent) {
      if (ended.length > 0 || !top.isOpen) {
        // Text goes on in deeper lines.
        if (ended.length === 0 && !isItem && !KEY.test(content)) return undefined;
        return this.#wrong({ line, indent, isList: isItem }, top, ended);
      }
      levels.push({ indent, isList: isItem, line, isOpen: false });
    } else if (isItem !== top.isList) {
      const under = levels.at(-2);
      // A list may stand as deep as its key.
      if (isItem && top.isOpen && ended.length === 0)
        levels.push({ indent, isList: true, line, isOpen: false });
      else if (!isItem && under?.indent === indent) levels.pop();
      else if (isItem) return { line, column: indent + 1, message: FITS_NOTHING, fix: FIX };
      else return keyAmongEntries(line, indent, top.line);
    }
    if (ended.length > 0) this.#ending = { line, indent, levels: ended };
    this.#enter(line, indent, content, isItem);
    return undefined;
  }

  #enter(line: number, indent: number, content: string, isItem: boolean): void {
    const level = this.#levels.at(-1);
    if (level === undefined) return;
    level.line = line;
    level.isWord = !isItem && /^[\w-]+$/.test(content);
    const [dash = ""] = isItem ? (/^-\s*/.exec(content) ?? []) : [];
    const rest = content.slice(dash.length);
    level.isOpen = valueOf(content) === "" && (!isItem || rest === "");
    if (isItem && rest !== "")
      this.#levels.push({ indent: indent + dash.length, isList: false, line, isOpen: false });
    if (isItem && KEY.test(rest)) this.#enter(line, indent + dash.length, rest, false);
  }

  #wrong(at: WrongLine, top: Level, ended: readonly Level[]): Misindented {
    const { line, indent, isList } = at;
    const ending = this.#ending;
    if (top.isWord === true) return { line: top.line, column: top.indent + 1, ...WITHOUT_COLON };
    if (
      ending !== undefined &&
      ending.line === top.line &&
      ending.levels.some((level) => level.indent === indent && level.isList === isList) &&
      !isNearSibling(at, ended)
    ) {
      const message = `the line ends the section above it, but line ${line} continues that section`;
      return { line: ending.line, column: ending.indent + 1, message, fix: FIX };
    }
    const message =
      ended.length > 0
        ? FITS_NOTHING
        : `the line is indented deeper than line ${top.line}, which already has a value`;
    return { line, column: indent + 1, message, fix: FIX };
  }
}

function keyAmongEntries(line: number, indent: number, entry: number): Misindented {
  return {
    line,
    column: indent + 1,
    message: `the line is a key, and line ${entry}, which is as deep, is an entry of a list`,
    fix: "indent it below the entry; or write both with a dash, or both without",
  };
}

/** Whether the line stands one blank before lines of its own kind: it belongs to them. */
const isNearSibling = ({ indent, isList }: WrongLine, ended: readonly Level[]): boolean =>
  ended.some((level) => level.isList === isList && level.indent === indent + 1);

/** The beginning of a line that has a key. */
const KEY = /^(?:"[^"]*"|'[^']*'|[^\s"'[{#&*!|>%@`][^:]*(?::\S[^:]*)*):(?=\s|$)/;

/** What a line says behind its key, or behind the dash of an entry, without comments. */
function valueOf(content: string): string {
  const rest = content.replace(/^(?:-\s+)*/, "").replace(/^-$/, "");
  return rest
    .replace(KEY, "")
    .replace(/(?:^|\s)#.*$/, "")
    .trim();
}

/** Whether a value goes on in further lines: a quote or a bracket is open at its end. */
function spansLines(value: string): boolean {
  const plain = value.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "");
  if (/^["']/.test(plain)) return true;
  const count = (characters: RegExp): number => plain.match(characters)?.length ?? 0;
  return /^[[{]/.test(plain) && count(/[[{]/g) > count(/[\]}]/g);
}
