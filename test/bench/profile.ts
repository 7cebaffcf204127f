/** Reads the .cpuprofile files that `node --cpu-prof` wrote and says where the time went. */

import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Between a function and its place: names may hold spaces. */
const BREAK = "\t";
const IDLE = new Set(["(idle)", "(root)"]);

/**
 * Lines that name the functions with the most self time, and the shares of whole packages. Empty
 * without a profile.
 */
export function topFunctions(directory: string, count: number): string[] {
  const file = profileOf(directory);
  if (file === undefined) return [];
  const self = selfTimes(JSON.parse(readFileSync(file, "utf8")) as CpuProfile);
  const busyUs = [...self.values()].reduce((sum, us) => sum + us, 0);
  const byPart = new Map<string, number>();
  for (const [name, us] of self) byPart.set(part(name), (byPart.get(part(name)) ?? 0) + us);
  const line = ([name, us]: [string, number]) =>
    `${((us / busyUs) * 100).toFixed(1).padStart(5)} %  ${name.replace(BREAK, "  ")}`;
  const descending = (entries: Map<string, number>) => [...entries].sort((a, b) => b[1] - a[1]);
  return [
    `busy ${(busyUs / 1000).toFixed(0)} ms on the main thread; shares of it, self time`,
    ...descending(self).slice(0, count).map(line),
    "by part",
    ...descending(byPart).slice(0, 14).map(line),
  ];
}

/**
 * Copies the main thread's profile to `target`, which outlives the run. Returns `target`. Throws
 * without a profile.
 */
export function keepProfile(directory: string, target: string): string {
  const file = profileOf(directory);
  if (file === undefined) throw new Error(`No profile in ${directory}.`);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(file, target);
  return target;
}

/** A worker thread writes a profile of its own; the main thread's is the largest. */
function profileOf(directory: string): string | undefined {
  const files = readdirSync(directory).filter((name) => name.endsWith(".cpuprofile"));
  return files
    .map((name) => join(directory, name))
    .sort((a, b) => statSync(b).size - statSync(a).size)[0];
}

function selfTimes(profile: CpuProfile): Map<string, number> {
  const names = new Map(
    profile.nodes.map(({ id, callFrame }) => {
      const place = callFrame.url
        .replace(/^file:\/\//, "")
        .replace(/^.*?((node_modules|core|plugins|test)\/)/, "$1");
      return [
        id,
        `${callFrame.functionName || "(anonymous)"}${BREAK}${place}${place ? `:${callFrame.lineNumber + 1}` : ""}`,
      ];
    }),
  );
  const self = new Map<string, number>();
  for (const [index, id] of profile.samples.entries()) {
    const name = names.get(id) ?? "?";
    if (IDLE.has(name.split(BREAK)[0] ?? "")) continue;
    self.set(name, (self.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0));
  }
  return self;
}

/** The package or folder a function belongs to. */
function part(name: string): string {
  const [label = "", place = ""] = name.split(BREAK);
  if (place === "") return label.startsWith("(") ? label : "native";
  return (
    /^(node_modules\/(@[^/]+\/)?[^/]+|core\/[^/]+\/(?:src\/[^/:]+|dist)|plugins\/[^/]+|test\/bench|node:\w+)/.exec(
      place,
    )?.[1] ?? place
  );
}
