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
  readonly segments: readonly string[];
  /** What the path ends with, behind its last parameter: `:countTokens`. Often empty. */
  readonly suffix: string;
  readonly methods: Map<string, T>;
}

const NO_SEGMENTS: readonly string[] = Object.freeze([]);
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
    if (this.#patterns.length > 0) {
      const segments = path.split("/");
      for (const pattern of this.#patterns) {
        const parameters = matchPattern(pattern.segments, withoutSuffix(segments, pattern.suffix));
        if (parameters !== undefined) return pick(pattern.methods, method, parameters);
      }
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
  const fixed = segments.filter((segment) => !segment.startsWith("{")).length;
  return suffix === "" ? fixed : fixed + 0.5;
}

function patternOf<T>(path: string, methods: Map<string, T>): Pattern<T> {
  const [, start = path, suffix = ""] = /^(.*\})(:[^/{}]+)$/.exec(path) ?? [];
  return { path, segments: start.split("/"), suffix, methods };
}

/** The segments of a path without the suffix; none when the path has another end. */
function withoutSuffix(segments: readonly string[], suffix: string): readonly string[] {
  const last = segments.at(-1) ?? "";
  if (suffix === "") return segments;
  if (!last.endsWith(suffix)) return NO_SEGMENTS;
  return [...segments.slice(0, -1), last.slice(0, -suffix.length)];
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

function matchPattern(
  pattern: readonly string[],
  path: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const rest = pattern.findIndex((segment) => segment.endsWith("...}"));
  const parameters: Record<string, string> = {};
  if (rest < 0)
    return path.length === pattern.length && matchSegments(pattern, path, parameters)
      ? parameters
      : undefined;
  const after = pattern.length - rest - 1;
  const taken = path.slice(rest, path.length - after).join("/");
  if (taken === "" || path.length < pattern.length) return undefined;
  if (!matchSegments(pattern.slice(0, rest), path, parameters)) return undefined;
  parameters[nameOf(pattern[rest]!)] = taken;
  if (after > 0 && !matchSegments(pattern.slice(-after), path.slice(-after), parameters))
    return undefined;
  return parameters;
}

/**
 * Whether each segment of a pattern fits the path's at the same place; what the pattern takes is
 * written down.
 */
function matchSegments(
  pattern: readonly string[],
  path: readonly string[],
  parameters: Record<string, string>,
): boolean {
  return pattern.every((expected, index) => {
    const actual = path[index];
    if (!expected.startsWith("{")) return expected === actual;
    if (actual === undefined || actual === "") return false;
    parameters[nameOf(expected)] = actual;
    return true;
  });
}

/** The name in `{name}` or `{name...}`. */
function nameOf(segment: string): string {
  return segment.slice(1, segment.endsWith("...}") ? -4 : -1);
}
