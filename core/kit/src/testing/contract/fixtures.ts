/** Fixtures of a provider: folders of data files, each with what goes in and what must come out. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue, Operation, Price } from "@sluice/spec";
import { isObject } from "../../json/narrow.ts";
import { ContractFault } from "./fault.ts";

/** `case.json`: what the files of one folder have in common. */
export interface CaseTerms {
  /** Where the shapes are documented: a URL, or a package with its version and the name of a type. */
  readonly source: string;
  readonly model: string;
  readonly operation: Operation;
  /** Options of the provider, beside the suite's. */
  readonly config: JsonObject;
  /** What the usages are priced with; absent: no cost is compared. */
  readonly price: Price | undefined;
  /** `content-type` of streams that are no `text/event-stream`. */
  readonly contentType: string;
}

/** What kind of fixture a file is. */
export type FixtureKind = "request" | "reply" | "stream" | "error";

/** One pair of files. */
export interface Fixture {
  readonly kind: FixtureKind;
  /** `tools/stream-cut`: the folder and the file without its endings. */
  readonly title: string;
  readonly input: Uint8Array;
  /** Compares what came out with the golden file; see {@link goldenFile}. */
  expect(actual: JsonValue): void;
}

/** One folder. */
export interface FixtureCase {
  readonly name: string;
  readonly terms: CaseTerms;
  /** The client's body: `request.in.json`, else one question. */
  readonly body: JsonObject;
  readonly fixtures: readonly Fixture[];
}

const INPUT = /^((request|reply|stream|error)(?:-[a-z0-9-]+)?)\.in\.(?:json|txt|sse|bin)$/;

/** Reads every case below a folder. Throws when a case has no source, or no fixture. */
export function loadCases(folder: string, defaultModel: string): FixtureCase[] {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => loadCase(folder, name, defaultModel)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function loadCase(folder: string, name: string, defaultModel: string): FixtureCase {
  const at = join(folder, name);
  const about = readJson(join(at, "case.json"));
  if (!isObject(about) || typeof about.source !== "string" || about.source === "") {
    throw new ContractFault(`${name}/case.json must be an object with a source.`);
  }
  const fixtures = readdirSync(at).flatMap((file): Fixture[] => {
    const match = INPUT.exec(file);
    if (match?.[1] === undefined) return [];
    const golden = join(at, `${match[1]}.out.json`);
    return [
      {
        kind: match[2] as FixtureKind,
        title: `${name}/${match[1]}`,
        input: readFileSync(join(at, file)),
        expect: (actual) => goldenFile(golden, actual),
      },
    ];
  });
  if (fixtures.length === 0)
    throw new ContractFault(`${name} holds no fixture: request.in.json, reply.in.json, stream.in.sse, …`);
  const body = existsSync(join(at, "request.in.json")) ? readJson(join(at, "request.in.json")) : undefined;
  return {
    name,
    fixtures,
    body: isObject(body) ? body : { model: "contract/model", messages: [{ role: "user", content: "Hello." }] },
    terms: {
      source: about.source,
      model: typeof about.model === "string" ? about.model : defaultModel,
      operation: (typeof about.operation === "string" ? about.operation : "chat") as Operation,
      config: isObject(about.config) ? about.config : {},
      price: isObject(about.price) ? ({ source: "fixture", ...about.price } as unknown as Price) : undefined,
      contentType: typeof about.content_type === "string" ? about.content_type : "text/event-stream",
    },
  };
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

/**
 * Compares a value with a golden file. One that does not exist is written, and the test fails, so that somebody reads it: delete
 * the file to have it written again.
 */
function goldenFile(path: string, actual: JsonValue): void {
  const plain = JSON.parse(JSON.stringify(actual)) as JsonValue;
  if (!existsSync(path)) {
    writeFileSync(path, `${JSON.stringify(plain, null, 2)}\n`);
    throw new ContractFault(`${path} was missing and is written now. Read it, then run the tests again.`);
  }
  const wanted = readJson(path) as JsonValue;
  const difference = firstDifference(wanted, plain, "");
  if (difference !== undefined) throw new ContractFault(`${path}: ${difference}`, wanted, plain);
}

/** Where two values differ first, in words. */
function firstDifference(wanted: JsonValue | undefined, actual: JsonValue | undefined, path: string): string | undefined {
  if (isDeepStrictEqual(wanted, actual)) return undefined;
  if (isObject(wanted) && isObject(actual)) {
    for (const name of new Set([...Object.keys(wanted), ...Object.keys(actual)])) {
      const found = firstDifference(wanted[name], actual[name], `${path}.${name}`);
      if (found !== undefined) return found;
    }
  }
  if (Array.isArray(wanted) && Array.isArray(actual)) {
    const [all, got] = [wanted as readonly JsonValue[], actual as readonly JsonValue[]];
    for (let index = 0; index < Math.max(all.length, got.length); index++) {
      const found = firstDifference(all[index], got[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
  }
  return `at ${path === "" ? "the top" : path} ${shown(wanted)} was expected and ${shown(actual)} came.`;
}

function shown(value: JsonValue | undefined): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
