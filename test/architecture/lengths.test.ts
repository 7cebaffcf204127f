import { describe, expect, it } from "vitest";
import { unitsOf } from "./lengths.ts";
import { readSources } from "./sources.ts";

const MAX_LINES = { function: 60, class: 150 } as const;

// `core/testing` holds suites of tests.
const long = readSources()
  .filter(({ folder }) => folder !== "core/testing")
  .flatMap(({ path, text }) =>
    unitsOf(text, path.endsWith("x") ? "tsx" : "ts").flatMap(({ kind, name, lines }) =>
      lines > MAX_LINES[kind] ? [`${path}: ${name}`] : [],
    ),
  );

describe("functions and classes", () => {
  it("have 60 and 150 lines at most", () => {
    expect(long).toEqual([]);
  });

  it("are counted with all their lines, by the name that a reader finds them by", () => {
    const text = `export class Lease {
      release(): void {
        this.#end(() => {
          return;
        });
      }
    }
    export const retry = defineStep({
      create(options: Options) {
        return options as never;
      },
    });
    const shout = (text: string): string =>
      text.toUpperCase();`;
    expect(unitsOf(text)).toEqual([
      { kind: "class", name: "Lease", lines: 7 },
      { kind: "function", name: "Lease.release", lines: 5 },
      { kind: "function", name: "", lines: 3 },
      { kind: "function", name: "retry.create", lines: 3 },
      { kind: "function", name: "shout", lines: 2 },
    ]);
  });
});
