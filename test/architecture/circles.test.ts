import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSources, ROOT } from "./sources.ts";

type Graph = ReadonlyMap<string, readonly string[]>;

/** One circle of a graph as a path that ends where it began; `undefined` when there is none. */
function findCircle(graph: Graph): readonly string[] | undefined {
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (name: string): readonly string[] | undefined => {
    if (done.has(name)) return undefined;
    const at = way.indexOf(name);
    if (at >= 0) return [...way.slice(at), name];
    way.push(name);
    for (const next of graph.get(name) ?? []) {
      const circle = visit(next);
      if (circle !== undefined) return circle;
    }
    way.pop();
    done.add(name);
    return undefined;
  };
  for (const name of graph.keys()) {
    const circle = visit(name);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe("imports", () => {
  const sources = readSources();

  it("make no circle of files, type imports included", () => {
    const graph = new Map(
      sources.map(({ path, imports }) => [path, imports.flatMap((line) => line.path ?? [])]),
    );
    expect(findCircle(graph)).toBeUndefined();
  });

  it("name files that exist", () => {
    const known = new Set(sources.map(({ path }) => path));
    const unknown = sources.flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ path: to }) =>
            to !== undefined &&
            !known.has(to) &&
            !(to.endsWith(".css") && existsSync(join(ROOT, to))),
        )
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(unknown).toEqual([]);
  });

  it("make no circle of packages", () => {
    const graph = new Map<string, string[]>();
    for (const { folder, imports } of sources) {
      const name = `@sluice/${folder.split("/")[1] ?? ""}`;
      const others = imports.flatMap(
        ({ specifier }) => /^@sluice\/[^/]+/.exec(specifier)?.[0] ?? [],
      );
      graph.set(name, [...(graph.get(name) ?? []), ...others.filter((other) => other !== name)]);
    }
    expect(findCircle(graph)).toBeUndefined();
  });
});

describe("the finder of circles", () => {
  it("finds one, however long, and none where there is none", () => {
    expect(
      findCircle(
        new Map([
          ["a", ["b"]],
          ["b", ["c"]],
          ["c", ["b"]],
        ]),
      ),
    ).toEqual(["b", "c", "b"]);
    expect(findCircle(new Map([["a", ["a"]]]))).toEqual(["a", "a"]);
    expect(
      findCircle(
        new Map([
          ["a", ["b", "c"]],
          ["b", ["c"]],
          ["c", []],
        ]),
      ),
    ).toBeUndefined();
  });
});
