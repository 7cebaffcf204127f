/**
 * A word planted into a request: at a string, at a name, in a member that stands beside others, in
 * disguises.
 */

import type { Chance } from "./requests.ts";

/** What is planted. Letters alone: it looks like an identifier, a word of a protocol and base64. */
export const PLANTED = "zqplantedzq";

type Path = readonly (string | number)[];

/** A body with the word in it, and how it got there. */
export interface Planting {
  readonly how: string;
  readonly body: object;
}

/** Texts that say the word. */
const DISGUISES: readonly (readonly [string, string])[] = [
  ["alone", PLANTED],
  ["in words", `some words and ${PLANTED} in them`],
  ["behind a prefix of a picture", `data:image/png,${PLANTED} in words`],
  ["behind a prefix of a sound", `  DATA:audio/mpeg;x=y,${PLANTED} in words`],
  ["behind a prefix of base64", `data:text/plain;base64,${PLANTED} is no base64`],
  ["behind a prefix of a picture in base64", `data:image/png;base64,${PLANTED} is no picture`],
  ["in the prefix", `data:image/png;${PLANTED};base64,AAAA`],
  ["in lines", `first line\n${PLANTED}\nthird line`],
];

/** Members that make an object look like media. */
const DECOYS: readonly object[] = [
  { data: "", format: "" },
  { data: "AAAA", format: "wav" },
  { data: "x", transcript: "hi" },
  { file_data: "data:image/png;base64,AAAA" },
  { source: { bytes: "AAAA" }, format: "png" },
  { media_type: "image/png", data: "AAAA" },
  { mimeType: "image/png", data: "AAAA" },
  { type: "image_generation_call", result: "AAAA" },
  { functionResponse: {} },
];

/** A copy of a body with the word planted somewhere. */
export function plant(body: object, chance: Chance): Planting {
  const copy = structuredClone(body) as Record<string, unknown>;
  const strings: Path[] = [];
  const objects: Path[] = [];
  collect(copy, [], strings, objects);
  const [name, said] = chance.of(DISGUISES);
  switch (chance.below(6)) {
    case 0: {
      const path = chance.of(objects);
      const object = at(copy, path) as Record<string, unknown>;
      object[PLANTED] = chance.of<unknown>([1, "x", { deep: true }]);
      return { how: `as a name in ${path.join(".")}`, body: copy };
    }
    case 1: {
      const path = chance.of(objects);
      const added = chance.of([
        "note",
        "text",
        "content",
        "extra",
        "data",
        "url",
        "arguments",
        "output",
        "bytes",
        "source",
      ]);
      const object = at(copy, path) as Record<string, unknown>;
      if (added in object) return { how: "nothing", body: copy };
      object[added] = chance.of<unknown>([said, [said], { text: said }]);
      return { how: `${name}, in the member ${added} of ${path.join(".")}`, body: copy };
    }
    case 2: {
      const path = chance.of(objects);
      const object = at(copy, path) as Record<string, unknown>;
      const names = Object.keys(object).filter((key) => /[a-z]/.test(key));
      const twin = names.length === 0 ? "Note" : caseOf(chance.of(names), chance);
      object[twin] = said;
      return { how: `${name}, in ${twin} of ${path.join(".")}`, body: copy };
    }
    case 3: {
      const path = chance.of(strings);
      const owner = at(copy, path.slice(0, -1));
      const decoy = chance.of(DECOYS);
      put(copy, path, safe(path, said));
      if (typeof owner === "object" && owner !== null && !Array.isArray(owner)) {
        const own = { ...(owner as Record<string, unknown>) };
        const key = String(path.at(-1));
        const rest = Object.fromEntries(Object.entries(decoy).filter(([member]) => member !== key));
        const planted = { ...own, [key]: safe(path, said) };
        const merged = chance.below(2) === 0 ? { ...rest, ...planted } : { ...planted, ...rest };
        return {
          how: `${name}, at ${path.join(".")} beside ${JSON.stringify(rest)}`,
          body: put(copy, path.slice(0, -1), merged),
        };
      }
      return { how: `${name}, at ${path.join(".")}`, body: copy };
    }
    default: {
      const path = chance.of(strings);
      return { how: `${name}, at ${path.join(".")}`, body: put(copy, path, safe(path, said)) };
    }
  }
}

/** The model is looked up, not judged, where it looks like one. */
function safe(path: Path, said: string): string {
  return path.length === 1 && path[0] === "model" ? `${PLANTED} in words` : said;
}

/** A name in another case; with a long s or a kelvin sign where it has such a letter. */
function caseOf(name: string, chance: Chance): string {
  const folded = name.replace("s", "\u017f").replace("k", "\u212a");
  return chance.of([
    name.toUpperCase(),
    name[0]!.toUpperCase() + name.slice(1),
    folded === name ? name.toUpperCase() : folded,
  ]);
}

function collect(value: unknown, path: Path, strings: Path[], objects: Path[]): void {
  if (typeof value === "string") strings.push(path);
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) collect(item, [...path, index], strings, objects);
  else if (typeof value === "object" && value !== null) {
    objects.push(path);
    for (const [name, member] of Object.entries(value))
      collect(member, [...path, name], strings, objects);
  }
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value);
}

function put(body: Record<string, unknown>, path: Path, to: unknown): object {
  if (path.length === 0) return to as object;
  const owner = at(body, path.slice(0, -1)) as Record<string | number, unknown>;
  owner[path.at(-1)!] = to;
  return body;
}
