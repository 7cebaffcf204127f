/**
 * The route table: method and path to a value. Exact paths first, then patterns, those with the
 * most fixed segments first.
 */

/** A hit, a path that exists for other methods, or nothing. */
export type RouteMatch<T> =
  | {
      readonly kind: "found";
      readonly value: T;
      readonly parameters: Readonly<Record<string, string>>;
    }
  | { readonly kind: "method"; readonly allow: readonly string[] }
  | { readonly kind: "none" };

interface Pattern<T> {
  readonly path: string;
  /** The text before its first parameter. */
  readonly prefix: string;
  readonly segments: readonly Segment[];
  /** The index of the parameter that takes several segments; -1 without one. */
  readonly rest: number;
  /** The name of that parameter where it is the only one and the last segment. */
  readonly tail: string | undefined;
  /** What the path ends with, behind its last parameter: `:countTokens`. Often empty. */
  readonly suffix: string;
  readonly methods: Map<string, T>;
}

/** A fixed text, or the name of a parameter. */
interface Segment {
  readonly text: string;
  readonly isFixed: boolean;
}

const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Routes of one listener. `{name}` takes one segment; `{name...}` takes one or more, slashes
 * included, and stands once in a pattern, at its end or before fixed segments. A word may follow
 * the last parameter: `{model...}:countTokens`.
 */
export class RouteTable<T> {
  readonly #exact = new Map<string, Map<string, T>>();
  #patterns: Pattern<T>[] = [];

  add(method: string, path: string, value: T): void {
    if (path.includes("{")) {
      const known = this.#patterns.find((pattern) => pattern.path === path);
      if (known === undefined) this.#addPattern(patternOf(path, new Map([[method, value]])));
      else known.methods.set(method, value);
      return;
    }
    const methods = this.#exact.get(path) ?? new Map<string, T>();
    methods.set(method, value);
    this.#exact.set(path, methods);
  }

  find(method: string, path: string): RouteMatch<T> {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return pick(exact, method, NO_PARAMETERS);
    for (const pattern of this.#patterns) {
      const { prefix, suffix, methods } = pattern;
      if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue;
      const parameters = matchPattern(pattern, path.slice(0, path.length - suffix.length));
      if (parameters !== undefined) return pick(methods, method, parameters);
    }
    return { kind: "none" };
  }

  /** Every route, exact paths first. */
  *entries(): Generator<{ readonly method: string; readonly path: string; readonly value: T }> {
    for (const [path, methods] of this.#exact)
      for (const [method, value] of methods) yield { method, path, value };
    for (const { path, methods } of this.#patterns)
      for (const [method, value] of methods) yield { method, path, value };
  }

  #addPattern(pattern: Pattern<T>): void {
    this.#patterns = [...this.#patterns, pattern].toSorted(
      (a, b) => fixedSegments(b) - fixedSegments(a),
    );
  }
}

/** Fixed segments; a suffix counts as half of one. */
function fixedSegments({ segments, suffix }: Pattern<unknown>): number {
  const fixed = segments.filter(({ isFixed }) => isFixed).length;
  return suffix === "" ? fixed : fixed + 0.5;
}

function patternOf<T>(path: string, methods: Map<string, T>): Pattern<T> {
  const [, start = path, suffix = ""] = /^(.*\})(:[^/{}]+)$/.exec(path) ?? [];
  const texts = start.split("/");
  const segments = texts.map(segmentOf);
  const rest = texts.findIndex((segment) => segment.endsWith("...}"));
  const [only, another] = segments.filter(({ isFixed }) => !isFixed);
  const isTail = another === undefined && only === segments.at(-1) && rest === segments.length - 1;
  return {
    path,
    prefix: path.slice(0, path.indexOf("{")),
    segments,
    rest,
    tail: isTail ? only?.text : undefined,
    suffix,
    methods,
  };
}

function segmentOf(segment: string): Segment {
  const name = /^\{(.*?)(?:\.\.\.)?\}$/.exec(segment)?.[1];
  return name === undefined ? { text: segment, isFixed: true } : { text: name, isFixed: false };
}

function pick<T>(
  methods: ReadonlyMap<string, T>,
  method: string,
  parameters: Readonly<Record<string, string>>,
): RouteMatch<T> {
  const value = methods.get(method);
  if (value !== undefined) return { kind: "found", value, parameters };
  return { kind: "method", allow: [...methods.keys()] };
}

/** The parameters of a path without its suffix; `undefined` when it does not match. */
function matchPattern(
  { prefix, segments, rest, tail }: Pattern<unknown>,
  path: string,
): Readonly<Record<string, string>> | undefined {
  if (tail !== undefined) {
    const part = path.slice(prefix.length);
    return part === "" ? undefined : { [tail]: part };
  }
  const parts = path.split("/");
  // Segments that the parameter with several of them takes beside its first one.
  const more = parts.length - segments.length;
  if (rest < 0 ? more !== 0 : more < 0) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, { text, isFixed }] of segments.entries()) {
    const at = rest >= 0 && index > rest ? index + more : index;
    const part = index === rest ? parts.slice(at, at + more + 1).join("/") : (parts[at] ?? "");
    if (isFixed ? part !== text : part === "") return undefined;
    if (!isFixed) parameters[text] = part;
  }
  return parameters;
}
