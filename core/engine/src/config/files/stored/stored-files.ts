/** The files of a configuration in the store, as if they lay beside the gateway file. */

import { dirname, relative, resolve } from "node:path";
import { type ConfigSource, heldSource } from "../source.ts";

/** Files by the names under which they are pushed: `gateway.yaml`, `pipelines/chat.yaml`. */
export type NamedFiles = Readonly<Record<string, string>>;

/** The gateway file, whatever it is called on a machine. */
export const GATEWAY_NAME = "gateway.yaml";

/** The configuration of a store that has none yet: it serves no model that a provider has. */
export const EMPTY_FILES: NamedFiles = Object.freeze({
  [GATEWAY_NAME]:
    "version: 1\nproviders:\n  echo: { use: echo }\nmodels:\n  - { id: echo, targets: [{ provider: echo, model: echo }] }\n",
});

/** The generation of a store that has no configuration yet. The first push makes the next one. */
export const EMPTY_GENERATION = 1;

/** The files by the places that they have beside a gateway file. */
export function placeFiles(path: string, files: NamedFiles): ReadonlyMap<string, string> {
  const home = dirname(path);
  const others = Object.entries(files).filter(([name]) => name !== GATEWAY_NAME);
  // Without it the file of the machine would be read in its place.
  return new Map([
    [path, files[GATEWAY_NAME] ?? ""],
    ...others.map(([name, text]) => [resolve(home, name), text] as const),
  ]);
}

/** The name under which a file beside a gateway file is pushed. */
export function pushedName(path: string, file: string): string {
  return file === path ? GATEWAY_NAME : relative(dirname(path), file);
}

/** The stored configuration of a process, which a newer one replaces. */
export class StoredFiles {
  readonly #path: string;
  #generation: number;
  #source: ConfigSource;

  /** `path` is the gateway file of this machine, absolute. */
  constructor(path: string, generation: number, files: NamedFiles) {
    this.#path = path;
    this.#generation = generation;
    this.#source = heldSource(placeFiles(path, files));
  }

  /** The generation that these files are. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether the store has no configuration yet. */
  get isEmpty(): boolean {
    return this.#generation === EMPTY_GENERATION;
  }

  /** Reads the present files; secrets are read from the disk. */
  readonly source: ConfigSource = {
    read: (path) => this.#source.read(path),
    has: (path) => this.#source.has(path),
    list: (folder) => this.#source.list(folder),
  };

  /** Another generation serves all keys. `texts` are by their places: `placed`. */
  replace(generation: number, texts: ReadonlyMap<string, string>): void {
    this.#generation = generation;
    this.#source = heldSource(texts);
  }

  /** Files by the places that they have on this machine. */
  placed(files: NamedFiles): ReadonlyMap<string, string> {
    return placeFiles(this.#path, files);
  }
}

const STORED = "store:";

/** The name of a stored file in findings, and on the admin listener. */
export function storedName(path: string, file: string): string {
  return `${STORED}${pushedName(path, file)}`;
}

/** The place of the stored file that has such a name; `undefined`: it is none of the store. */
export function storedPath(path: string, name: string): string | undefined {
  if (!name.startsWith(STORED)) return undefined;
  const pushed = name.slice(STORED.length);
  return pushed === GATEWAY_NAME ? path : resolve(dirname(path), pushed);
}
