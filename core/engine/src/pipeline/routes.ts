/** The route table: method and path to a value. Exact paths first, then patterns in the order they were added. */

/** A hit, a path that exists for other methods, or nothing. */
export type RouteMatch<T> =
  | { readonly kind: "found"; readonly value: T; readonly parameters: Readonly<Record<string, string>> }
  | { readonly kind: "method"; readonly allow: readonly string[] }
  | { readonly kind: "none" };

interface Pattern<T> {
  readonly segments: readonly string[];
  readonly methods: Map<string, T>;
}

const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze({});

/** Routes of one listener. `{name}` takes one segment, `{name...}` at the end takes the rest, slashes included. */
export class RouteTable<T> {
  readonly #exact = new Map<string, Map<string, T>>();
  readonly #patterns = new Map<string, Pattern<T>>();

  add(method: string, path: string, value: T): void {
    if (path.includes("{")) {
      const pattern = this.#patterns.get(path) ?? { segments: path.split("/"), methods: new Map<string, T>() };
      pattern.methods.set(method, value);
      this.#patterns.set(path, pattern);
      return;
    }
    const methods = this.#exact.get(path) ?? new Map<string, T>();
    methods.set(method, value);
    this.#exact.set(path, methods);
  }

  find(method: string, path: string): RouteMatch<T> {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return pick(exact, method, NO_PARAMETERS);
    if (this.#patterns.size > 0) {
      const segments = path.split("/");
      for (const pattern of this.#patterns.values()) {
        const parameters = matchPattern(pattern.segments, segments);
        if (parameters !== undefined) return pick(pattern.methods, method, parameters);
      }
    }
    return { kind: "none" };
  }
}

function pick<T>(methods: ReadonlyMap<string, T>, method: string, parameters: Readonly<Record<string, string>>): RouteMatch<T> {
  const value = methods.get(method);
  if (value !== undefined) return { kind: "found", value, parameters };
  return { kind: "method", allow: [...methods.keys()] };
}

function matchPattern(pattern: readonly string[], path: readonly string[]): Readonly<Record<string, string>> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const actual = path[index];
    if (actual === undefined) return undefined;
    if (expected.startsWith("{") && expected.endsWith("...}")) {
      const rest = path.slice(index).join("/");
      if (rest === "") return undefined;
      parameters[expected.slice(1, -4)] = rest;
      return parameters;
    }
    if (expected.startsWith("{")) {
      if (actual === "") return undefined;
      parameters[expected.slice(1, -1)] = actual;
    } else if (expected !== actual) {
      return undefined;
    }
  }
  return pattern.length === path.length ? parameters : undefined;
}
