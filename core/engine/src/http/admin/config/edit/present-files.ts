/** The files of the configuration as they are, and which of them an edit may name. */

import { dirname, join } from "node:path";
import { fileName, placeOf } from "../../../../config/files/file-names.ts";
import { valueAtPath } from "../../../../config/files/path.ts";
import { pipelineFiles } from "../../../../config/files/pipeline-files.ts";
import { type ConfigSource, diskSource, sha256 } from "../../../../config/files/source.ts";
import { openConfig, type OpenedConfig, type OpenOptions } from "../../../../config/load.ts";
import { invalid } from "../../fields.ts";

/** A file on disk, or in the store. */
export interface PresentFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** The files, by their names. */
export interface PresentFiles {
  readonly opened: OpenedConfig;
  readonly files: ReadonlyMap<string, PresentFile>;
  readonly texts: Readonly<Record<string, string>>;
  /** Of names and texts. */
  readonly digest: string;
  readonly source: ConfigSource;
}

/** A digest of files: names and texts. */
export function filesDigest(texts: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(texts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sha256(JSON.stringify(sorted));
}

/** Reads the files. */
export function presentFiles(place: OpenOptions): PresentFiles {
  const { source = diskSource } = place;
  const opened = openConfig(place);
  const files = new Map<string, PresentFile>();
  for (const path of opened.documents) {
    const { bytes } = source.read(path);
    if (bytes !== undefined) files.set(fileName(path, place), { path, bytes });
  }
  const texts = Object.fromEntries(
    [...files].map(([name, { bytes }]) => [name, bytes.toString("utf8")]),
  );
  return { opened, files, texts, digest: filesDigest(texts), source };
}

/** The form of the name of a new pipeline file. */
const NEW_NAME = /^[A-Za-z0-9][\w-]*(?:\.[\w-]+)*\.ya?ml$/;

/**
 * The path of a file that an edit names. A name is one of the list of files, letter for letter, or
 * that of a new file in a present folder of pipelines: no other path is made of it. Throws
 * `invalid_field`.
 */
export function pathOfName(name: string, text: string | null, present: PresentFiles): string {
  const { opened, files } = present;
  const known = files.get(name);
  if (known !== undefined && (text !== null || known.path !== opened.path)) return known.path;
  if (known !== undefined)
    throw invalid("files", `${JSON.stringify(name)} is the gateway file, which cannot be removed.`);
  const path = text === null ? undefined : newPath(name, present);
  if (path !== undefined) return path;
  const names = [...files.keys()].join(", ");
  throw invalid(
    "files",
    `The configuration has no file ${JSON.stringify(name.slice(0, 200))}. It has ${names}; a new file belongs into the folder of pipelines and ends with .yaml.`,
  );
}

function newPath(name: string, { opened, source }: PresentFiles): string | undefined {
  const { gateway, path } = opened;
  const home = dirname(path);
  const place = placeOf(opened);
  const { folders } = pipelineFiles(valueAtPath(gateway?.value, ["pipelines"]), home, source);
  for (const folder of folders) {
    const prefix = `${fileName(folder, place)}/`;
    const base = name.slice(prefix.length);
    if (name.startsWith(prefix) && NEW_NAME.test(base) && source.has(folder))
      return join(folder, base);
  }
  const prices = join(home, "prices.yaml");
  const isPrices = valueAtPath(gateway?.value, ["prices"]) === undefined;
  return isPrices && name === fileName(prices, place) ? prices : undefined;
}
