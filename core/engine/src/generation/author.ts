/** Who made an edit, as far as anybody knows: whoever asked for it says so, and a file that was saved has an owner. */

import { readFileSync, statSync } from "node:fs";

/** Who made a generation. */
export interface Author {
  /** A name, as it was said, or as the machine calls the owner. */
  readonly name: string;
  /** `caller`: whoever asked said so. `file_owner`: the file that changed belongs to them; who saved it, nobody knows. */
  readonly from: "caller" | "file_owner";
}

/** Contents by the paths of files. */
type Texts = ReadonlyMap<string, string>;

/** Who asked, by their own word. */
export function callerOf(name: string | undefined): Author | undefined {
  return name === undefined ? undefined : { name, from: "caller" };
}

/** The owner of the files that changed, where they have one and the same. */
export function ownerOf(before: Texts | undefined, after: Texts): Author | undefined {
  const changed = [...after].filter(([path, text]) => before?.get(path) !== text).map(([path]) => path);
  const owners = new Set(changed.map(ownerIdOf));
  const [owner] = owners;
  return owner === undefined || owners.size > 1 ? undefined : { name: userName(owner) ?? `uid ${owner}`, from: "file_owner" };
}

function ownerIdOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

/** The name of a user's number. Node knows its own user's alone; the file is that of every POSIX system with local users. */
function userName(id: number): string | undefined {
  try {
    const line = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .find((text) => text.split(":")[2] === String(id));
    return line?.split(":", 1)[0];
  } catch {
    return undefined;
  }
}
