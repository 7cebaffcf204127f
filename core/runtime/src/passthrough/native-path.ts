/** Patterns of native paths, declared by providers or opened by operators. */

import type { HttpCall, NativeApi, NativeEndpoint } from "@sluice/contract";

/** The declared endpoint of a request, and the model in its path. */
export interface NativeMatch {
  readonly endpoint: NativeEndpoint;
  /** Decoded; `undefined` without a model in the path. */
  readonly model: string | undefined;
}

/** Finds the declared endpoint of a method and a path from the native root. */
export type NativeMatcher = (method: HttpCall["method"], path: string) => NativeMatch | undefined;

/**
 * A matcher of endpoints. Literal parts of a path are compared exactly: another case or encoding
 * does not match.
 */
export function createNativeMatcher(endpoints: readonly NativeEndpoint[]): NativeMatcher {
  const compiled = endpoints.map((endpoint) => ({
    endpoint,
    expression: expressionOf(endpoint.path),
  }));
  return (method, path) => {
    for (const { endpoint, expression } of compiled) {
      if ((endpoint.method ?? "POST") !== method) continue;
      const found = expression.exec(path);
      if (found === null) continue;
      const named = found.groups?.model;
      const model = named === undefined ? undefined : modelOf(named, endpoint.hasSlashes === true);
      if (named === undefined || model !== undefined) return { endpoint, model };
    }
    return undefined;
  };
}

/**
 * Whether one of an operator's patterns opens a path: `GET v1/files`, `v1/batches/**`. `*` is one
 * segment, `**` the rest.
 */
export function createOpenMatcher(
  patterns: readonly string[],
): (method: HttpCall["method"], path: string) => boolean {
  const compiled = patterns.map((pattern) => {
    const [, method, path = ""] = /^(?:(GET|POST|PUT|PATCH|DELETE) )?\/?(\S+)$/.exec(pattern) ?? [];
    const parts = path
      .split("/")
      .map((part) => (part === "**" ? ".*" : part.split("*").map(escaped).join("[^/]*")));
    return { method, expression: new RegExp(`^${parts.join("/")}$`) };
  });
  return (method, path) =>
    compiled.some(
      (pattern) => (pattern.method ?? method) === method && pattern.expression.test(path),
    );
}

/** The path of a call from the native root; `undefined` for a path outside it. */
export function pathFromRoot(url: string, { root }: Pick<NativeApi, "root">): string | undefined {
  const slash = url.indexOf("/", url.indexOf("//") + 2);
  const [path = ""] = url.slice(slash + 1).split("?", 1);
  if (slash < 0) return undefined;
  if (root === "") return path;
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
}

function expressionOf(pattern: string): RegExp {
  const parts = pattern
    .split(/(\{[a-z]+\})/)
    .map((part) =>
      part === "{model}"
        ? "(?<model>[^/]+)"
        : part.startsWith("{")
          ? "[A-Za-z0-9._~-]+"
          : escaped(part),
    );
  return new RegExp(`^${parts.join("")}$`);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

const DOTS = /(?:^|\/)\.{0,2}(?:\/|$)/;

/**
 * The model of a path as the upstream decodes it; `undefined` when it decodes to several path
 * segments.
 */
function modelOf(text: string, hasSlashes: boolean): string | undefined {
  let model: string;
  try {
    model = decodeURIComponent(text);
  } catch {
    return undefined;
  }
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(model) || DOTS.test(model)) return undefined;
  return !hasSlashes && model.includes("/") ? undefined : model;
}
