/** Where the elements of a request stand in the client's document, and in the upstream's. */

import { NUMBERS } from "./requests.ts";

/** An element: its text or number, and the paths at which it stands. */
export interface Element {
  readonly name: string;
  readonly paths: readonly string[];
}

const TOKEN = /zq([a-z]+)zq/g;

/** The elements of a document in their order: of its strings, of its names, and its numbers. */
export function elementsOf(document: unknown): readonly Element[] {
  const found = new Map<string, string[]>();
  const add = (name: string, path: string): void => {
    const paths = found.get(name);
    if (paths === undefined) found.set(name, [path]);
    else if (!paths.includes(path)) paths.push(path);
  };
  const visit = (value: unknown, path: string): void => {
    if (typeof value === "string")
      for (const [, name = ""] of value.matchAll(TOKEN)) add(name, path);
    else if (typeof value === "number" && NUMBERS.includes(value)) add(String(value), path);
    else if (Array.isArray(value)) value.forEach((each, index) => visit(each, `${path}[${index}]`));
    else if (typeof value === "object" && value !== null)
      for (const [name, each] of Object.entries(value)) {
        for (const [, token = ""] of name.matchAll(TOKEN)) add(token, `${path}.{}`);
        visit(each, path === "" ? bare(name) : `${path}.${bare(name)}`);
      }
  };
  visit(document, "");
  return [...found].map(([name, paths]) => ({ name, paths }));
}

/** A name without its element: the path of a member is the same whatever it is called. */
const bare = (name: string): string => name.replaceAll(TOKEN, "{$1}");
