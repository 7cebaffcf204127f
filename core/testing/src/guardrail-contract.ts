/** The contract of a guardrail, as a suite that any package runs in one line. */

import type {
  EditSpan,
  Guardrail,
  GuardrailDefinition,
  GuardrailInstance,
  GuardrailSettings,
  TextContext,
} from "@sluice/contract";
import { applySpans, type BodyText } from "@sluice/kit/internals";
import {
  GuardrailRunner,
  GuardrailSet,
  judgesSample,
  SetPolicy,
  TextWindow,
} from "@sluice/runtime/guard";
import { fakeHost } from "./fake-host.ts";
import { disguises, textsOf } from "./guardrail-disguises.ts";
import { amount } from "./proof.ts";
import { mutations } from "./guardrail-mutations.ts";

/** What a suite is run with. */
export interface GuardrailContractOptions<C> {
  readonly config: C;
  /** Texts that must be blocked or edited. */
  readonly denied: readonly string[];
  /** Texts that must pass as they are. */
  readonly allowed: readonly string[];
  /** Milliseconds that one judgement of 100,000 characters may take. Default 50. */
  readonly latencyMs?: number;
  /** Takes the figures and the mutation report, line by line: `console.info` of a test. */
  readonly report?: (lines: string) => void;
  /** Which texts it judges. Default: a reply's content. */
  readonly part?: TextContext["part"];
}

/** The functions of a test runner, as vitest has them. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => void;
  readonly it: (name: string, run: () => Promise<void>) => void;
}

/** How many mutations of the denied texts slipped through, by kind. */
export interface MutationReport {
  readonly guardrail: string;
  readonly tried: number;
  readonly bypassed: number;
  readonly byKind: Readonly<Record<string, { readonly tried: number; readonly bypassed: number }>>;
}

/** Longest text whose every cut is tried. */
const EVERY_CUT = 200;

/**
 * Defines the suite. A failure of the contract is a thrown Error that says which promise was
 * broken.
 */
export function guardrailContract<C>(
  definition: GuardrailDefinition<C>,
  options: GuardrailContractOptions<C>,
  { describe, it }: TestRunner,
): void {
  const bench = (): Bench =>
    new Bench(
      definition.create(options.config, fakeHost()),
      definition.name,
      options.part ?? "content",
    );
  describe(`the guardrail ${definition.name} keeps the contract`, () => {
    it("denies its own sample", async () => {
      const fault = await judgesSample(new GuardrailRunner(bench().instance, fakeHost()), () =>
        definition.sample(options.config),
      );
      demand(fault === undefined, `it ${fault?.what}`);
    });
    it("denies what it must, and lets pass what it may", async () => {
      for (const text of options.denied)
        demand((await bench().whole(text)).isDenied, "a denied text passes", text);
      for (const text of options.allowed)
        demand(!(await bench().whole(text)).isDenied, "an allowed text is denied", text);
    });
    it("says the same however a text is cut, and nothing denied leaves early", async () => {
      for (const text of [...options.denied, ...options.allowed].flatMap(inContext))
        await checkCuts(bench(), text);
    });
    it("says the same of mixtures cut at random", async () => {
      for (const [text, pieces] of mixtures([...options.denied, ...options.allowed]))
        await checkCuts(bench(), text, [pieces]);
    });
    it("answers with verdicts of the contract, and ends with its signal", async () => {
      for (const text of [...options.denied, ...options.allowed, "", "\u{1F600}", "\ud83d"])
        await bench().whole(text);
    });
    it("is fast on long and hostile texts", async () => {
      const limitMs = options.latencyMs ?? 50;
      for (const [name, text] of hostileTexts(options.denied)) {
        const one = bench();
        await one.whole(text.slice(0, 1_000));
        const before = process.cpuUsage();
        await one.whole(text);
        const { user, system } = process.cpuUsage(before);
        const tookMs = (user + system) / 1_000;
        options.report?.(
          `${definition.name}: ${name}, ${text.length} characters: ${tookMs.toFixed(1)} ms of CPU`,
        );
        // A check that is compiled and collected meanwhile takes longer; ten times the bound is no
        // such check.
        demand(tookMs < limitMs * 10, `${name} took ${Math.round(tookMs)} ms of ${limitMs} ms`);
      }
    });
    it("has a mutation report", async () => {
      options.report?.(describeReport(await mutationReport(definition, options)));
    });
  });
}

/**
 * Judges mutations of the denied texts. Not a test: no rate is right for every use, and versions
 * are compared by it.
 */
export async function mutationReport<C>(
  definition: GuardrailDefinition<C>,
  options: GuardrailContractOptions<C>,
): Promise<MutationReport> {
  const byKind: Record<string, { tried: number; bypassed: number }> = {};
  const one = new Bench(
    definition.create(options.config, fakeHost()),
    definition.name,
    options.part ?? "content",
  );
  let tried = 0;
  let bypassed = 0;
  const count = (kind: string, isDenied: boolean): void => {
    const kinds = (byKind[kind] ??= { tried: 0, bypassed: 0 });
    kinds.tried++;
    tried++;
    if (isDenied) return;
    kinds.bypassed++;
    bypassed++;
  };
  // oxlint-disable no-await-in-loop -- a report, one text after the other.
  for (const { kind, text, part } of options.denied.flatMap((denied) => mutations(denied))) {
    count(kind, (await one.whole(text, part)).isDenied);
  }
  for (const disguise of options.denied.flatMap((denied) => disguises(denied))) {
    count(disguise.kind, await one.any(textsOf(disguise)));
  }
  // oxlint-enable no-await-in-loop
  return { guardrail: definition.name, tried, bypassed, byKind };
}

/** A report in lines. */
export function describeReport({ guardrail, tried, bypassed, byKind }: MutationReport): string {
  const rate = (part: number, whole: number): string =>
    `${whole === 0 ? 0 : Math.round((100 * part) / whole)} %`;
  const kinds = Object.entries(byKind).map(
    ([kind, count]) => `  ${kind}: ${count.bypassed} of ${count.tried}`,
  );
  return [
    `${guardrail}: ${bypassed} of ${tried} mutations pass (${rate(bypassed, tried)})`,
    ...kinds,
  ].join("\n");
}

/** What became of a text. */
interface Judged {
  readonly isDenied: boolean;
  readonly isBlocked: boolean;
  readonly text: string;
  /** How much of the original had left when it ended. */
  readonly released: number;
}

/** One guardrail, judged with. */
class Bench {
  readonly instance: GuardrailInstance;
  readonly #context: TextContext;

  constructor(guardrail: Guardrail, name: string, part: TextContext["part"]) {
    const settings: GuardrailSettings = {
      defaultOn: false,
      mode: "enforce",
      onError: "fail",
      budgetMs: 30_000,
      isolation: "inline",
    };
    this.instance = { name, use: name, guardrail, settings };
    const known = {
      exchange: "contract",
      operation: "chat",
      model: "m",
      direction: "output",
      place: "contract",
    } as const;
    this.#context = { ...known, part, isPartial: false, offset: 0 };
  }

  whole(text: string, part = this.#context.part): Promise<Judged> {
    return this.#run([text], Infinity, part);
  }

  /** Whether one of a body's texts is denied; a body that cannot be read is refused. */
  async any(texts: readonly BodyText[] | undefined): Promise<boolean> {
    const judged = await Promise.all((texts ?? []).map(({ text, part }) => this.whole(text, part)));
    return texts === undefined || judged.some(({ isDenied }) => isDenied);
  }

  pieces(pieces: readonly string[]): Promise<Judged> {
    return this.#run(pieces, this.instance.guardrail.reach, this.#context.part);
  }

  /** Where the first offence of a text stands, if the guardrail says so. */
  async offence(text: string): Promise<number | undefined> {
    const verdict = await this.instance.guardrail.check(
      text,
      AbortSignal.timeout(60_000),
      this.#context,
    );
    return verdict.kind === "block" ? verdict.start : undefined;
  }

  async #run(pieces: readonly string[], reach: number, part: TextContext["part"]): Promise<Judged> {
    const session = new GuardrailRunner(this.instance, fakeHost()).begin(
      AbortSignal.timeout(60_000),
    );
    const set = new GuardrailSet([session], new SetPolicy(() => undefined));
    const window = new TextWindow({
      set,
      reach,
      maxHeld: Number.MAX_SAFE_INTEGER,
      context: { ...this.#context, part },
    });
    const spans: EditSpan[] = [];
    const whole = pieces.join("");
    try {
      for (const piece of pieces) {
        // oxlint-disable-next-line no-await-in-loop -- the pieces come in order.
        await window.push(piece);
        spans.push(...window.takeSpans());
      }
      await window.end();
      spans.push(...window.takeSpans());
    } catch (error) {
      if ((error as { readonly code?: string }).code !== "guardrail_violation") throw error;
      const { released } = window;
      return {
        isDenied: true,
        isBlocked: true,
        text: applySpans(whole.slice(0, released), spans),
        released,
      };
    }
    return {
      isDenied: spans.length > 0,
      isBlocked: false,
      text: applySpans(whole, spans),
      released: whole.length,
    };
  }
}

async function checkCuts(bench: Bench, text: string, cuts = cutsOf(text)): Promise<void> {
  const whole = await bench.whole(text);
  const offence = whole.isBlocked ? await bench.offence(text) : undefined;
  for (const pieces of cuts) {
    // oxlint-disable-next-line no-await-in-loop -- one failure is enough.
    const cut = await bench.pieces(pieces);
    demand(
      cut.isBlocked === whole.isBlocked,
      "cutting the text changes whether it is blocked",
      text,
    );
    if (whole.isBlocked) {
      // What has left ends where the text did not: a word may end there that went on.
      if (offence !== undefined && cut.released <= offence) continue;
      // oxlint-disable-next-line no-await-in-loop -- as above.
      const left = await bench.whole(cut.text);
      demand(!left.isBlocked, "what is blocked leaves before it is", text);
    } else {
      demand(cut.text === whole.text, "cutting the text changes how it is edited", text);
    }
  }
}

/** Characters between two places where a text is cut in two. */
const cutStep = (): number => amount(5, 1);

/** Cuts in two, and pieces of one, two and seven characters. */
function cutsOf(text: string): string[][] {
  const pieces = (size: number): string[] =>
    text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [""];
  const step = cutStep();
  const places = Math.ceil(Math.min(EVERY_CUT, text.length) / step);
  const twos = Array.from({ length: places }, (_none, index) => [
    text.slice(0, index * step),
    text.slice(index * step),
  ]);
  return [pieces(1), pieces(2), pieces(7), ...twos];
}

/** How many mixtures are tried. */
const mixtureCount = (): number => amount(30, 150);

/**
 * Texts of whole and torn texts, fillers and invisible characters, each cut at random; the same at
 * every run.
 */
function mixtures(texts: readonly string[]): [text: string, pieces: string[]][] {
  let seed = 1;
  const below = (bound: number): number => {
    // A linear congruence (Numerical Recipes): a test needs no better chance.
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };
  const parts = [
    ...texts,
    " ",
    "\n",
    "1 2 ",
    "a",
    "@",
    "\u200b",
    "\u200b".repeat(12),
    "The quick brown fox. ".repeat(12),
  ];
  const torn = (): string => {
    const part = parts[below(parts.length)] ?? "";
    return below(3) === 0 ? part.slice(below(part.length), below(part.length) + 1) : part;
  };
  return Array.from({ length: mixtureCount() }, () => {
    const text = Array.from({ length: 2 + below(9) }, torn).join("");
    const pieces: string[] = [];
    for (let at = 0; at < text.length;) {
      const size = 1 + below(below(4) === 0 ? 300 : 24);
      pieces.push(text.slice(at, at + size));
      at += size;
    }
    return [text, pieces];
  });
}

/** The text alone, and between others. */
function inContext(text: string): string[] {
  const filler = "The quick brown fox jumps over the lazy dog. ".repeat(4);
  return [text, `${filler}${text} ${filler}`, `${text} ${text}`];
}

function hostileTexts(denied: readonly string[]): [string, string][] {
  const size = 100_000;
  return [
    ["one letter repeated", "a".repeat(size)],
    ["digits", "1".repeat(size)],
    ["blanks", " ".repeat(size)],
    ["almost a denied text", (denied[0]?.slice(0, -1) ?? "x").repeat(size).slice(0, size)],
    ["punctuation", "@.-_".repeat(size / 4)],
    ["28 characters", `${"a".repeat(27)}!`],
  ];
}

function demand(isKept: boolean, promise: string, text?: string): asserts isKept {
  if (!isKept)
    throw new Error(
      `${promise}${text === undefined ? "" : `: ${JSON.stringify(text.slice(0, 120))}`}`,
    );
}
