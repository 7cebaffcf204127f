/**
 * Routes in the fragment: `#/keys/key_1?team=support`. Path and filters never reach a server, and
 * work under any prefix.
 */

import { useMemo } from "preact/hooks";
import { createCell, useCell } from "./cell.ts";

/** Where the page is. */
export interface Route {
  /** Decoded: `["keys", "key_1"]`. */
  readonly segments: readonly string[];
  readonly filters: URLSearchParams;
}

const routeCell = createCell(location.hash);
let onLeave: (() => void) | undefined;
addEventListener("hashchange", () => {
  if (onLeave === undefined) return routeCell.set(location.hash);
  history.pushState(null, "", routeCell.value || "#/");
  onLeave();
});

/** Stays at the present place: going back, and another fragment, call `run` instead. */
export function stayHere(run: () => void): () => void {
  onLeave = run;
  // The browser asks before it leaves the page.
  const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
  addEventListener("beforeunload", ask);
  return () => {
    onLeave = undefined;
    removeEventListener("beforeunload", ask);
  };
}

/** Reads a fragment. A segment that cannot be decoded stays as it is. */
export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const segments = path.split("/").filter((part) => part !== "");
  return { segments: segments.map(decoded), filters: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The fragment of a place: `href(["keys", id], { tab: "requests" })`. */
export function href(
  segments: readonly string[],
  filters: Readonly<Record<string, string | undefined>> = {},
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters))
    if (value !== undefined && value !== "") query.set(name, value);
  const text = query.toString();
  const path = segments.map((part) => encodeURIComponent(part)).join("/");
  return `#/${path}${text === "" ? "" : `?${text}`}`;
}

/** Goes to a fragment. `replace`: without a step in the history of the browser. */
export function go(fragment: string, how: "push" | "replace" = "push"): void {
  if (how === "replace") history.replaceState(null, "", fragment);
  else history.pushState(null, "", fragment);
  routeCell.set(location.hash);
}

/** The present route. */
export function useRoute(): Route {
  const hash = useCell(routeCell);
  return useMemo(() => readRoute(hash), [hash]);
}

/** The filters of the present route, and what changes some of them. */
export function useFilters<Name extends string>(
  names: readonly Name[],
): readonly [
  Readonly<Record<Name, string>>,
  (changes: Partial<Record<Name, string>>, how?: "push" | "replace") => void,
] {
  const { segments, filters } = useRoute();
  const text = filters.toString();
  const values = useMemo(
    () => Object.fromEntries(names.map((name) => [name, filters.get(name) ?? ""])),
    [text],
  ) as Record<Name, string>;
  const change = (
    changes: Partial<Record<Name, string>>,
    how: "push" | "replace" = "replace",
  ): void => go(href(segments, { ...Object.fromEntries(filters), ...changes }), how);
  return [values, change];
}
