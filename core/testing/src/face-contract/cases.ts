/** Fixtures of a face: tables of cases, each with what goes in and what must come out. */

import {
  type ClientRequest,
  type Face,
  type FaceContext,
  type FaceDefinition,
  type FaceMeans,
  GatewayError,
  type GatewayErrorOptions,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { writtenDocument } from "@sluice/kit/internals";
import { type CaseRow, type CaseTable, readTables, rowInput } from "../contract/case-table.ts";
import { must } from "../contract/fault.ts";
import { compareRow } from "../contract/fixtures.ts";
import { optionsOf, REPLY_MODEL } from "../contract/subject.ts";
import { fakeHost } from "../fake-host.ts";

/** The kinds of cases of a face. */
export const FACE_KINDS = ["request", "reply", "stream", "error", "count", "models"] as const;
export type FaceKind = (typeof FACE_KINDS)[number];

/** What a request has beside its body: `client` of a case, or of its table. */
export interface FaceClient {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One case. */
export interface FaceCase {
  readonly kind: FaceKind;
  /** `tools/stream-cut`: the table and the case. */
  readonly title: string;
  /** `given`, or the JSON of the file. */
  readonly given: JsonValue;
  readonly client: ClientRequest;
  /** The client's request that replies and streams of the table answer. */
  readonly asked: JsonObject;
  readonly askedBy: ClientRequest;
  readonly unlikeWhole: string | undefined;
  /** Compares what came out with the case's `expected`; an absent one is written. */
  expect(actual: JsonValue): void;
}

/** What every reply of a case is made with. Its seal hides nothing: `FACE_MEANS` opens it. */
export const FACE_CONTEXT: FaceContext = Object.freeze({
  requestId: "01234567-89ab-4cde-8f01-23456789abcd",
  model: REPLY_MODEL,
  startedAtMs: 1_767_225_600_000,
  seal: (text: string) => Buffer.from(text).toString("base64url"),
});

/** What every request of a case is read with. */
export const FACE_MEANS: FaceMeans = Object.freeze({
  open(sealed: string) {
    const text = Buffer.from(sealed, "base64url").toString();
    return FACE_CONTEXT.seal(text) === sealed ? { text, deployment: DEPLOYMENT } : undefined;
  },
});

const DEPLOYMENT = "contract/deployment";

/** Reads every table of a folder. Throws `ContractFault` for a faulty one; see `readTables`. */
export function loadFaceCases(
  folder: string,
  definition: FaceDefinition<never>,
  fallback: JsonObject,
): FaceCase[] {
  return readTables(folder, FACE_KINDS).flatMap((table) => {
    const request = table.rows.find((row) => row.name === "request");
    const asked = request === undefined ? fallback : inputOf(table, request);
    must(isObject(asked), `${table.path}: the case request must be an object.`);
    return table.rows.map((row): FaceCase => ({
      kind: row.name.split("-", 1)[0] as FaceKind,
      title: `${table.name}/${row.name}`,
      given: inputOf(table, row),
      client: clientOf(definition, table.about.client, row.client),
      asked,
      askedBy: clientOf(definition, table.about.client, request?.client),
      unlikeWhole: row.unlike_whole,
      expect: (actual) => compareRow(table, row, actual, FACE_KINDS),
    }));
  });
}

function inputOf(table: CaseTable, row: CaseRow): JsonValue {
  return JSON.parse(rowInput(table, row).toString()) as JsonValue;
}

/** The request of a client at the face's first path, with the members that cases replace. */
export function clientOf(
  { paths }: FaceDefinition<never>,
  ...given: readonly (JsonValue | undefined)[]
): ClientRequest {
  const [method = "POST", path = "/"] = (paths[0] ?? "").split(" ");
  const terms: FaceClient = Object.assign({}, ...given.filter((each) => isObject(each)));
  const headers: ReadonlyMap<string, string> = new Map(Object.entries(terms.headers ?? {}));
  return {
    method: terms.method ?? method,
    path: terms.path ?? path,
    query: terms.query ?? "",
    parameters: terms.parameters ?? {},
    header: (name) => headers.get(name),
    address: null,
  };
}

/** The face of a definition, with defaults and `overrides` for options. */
export function makeFace(definition: FaceDefinition<never>, overrides: JsonObject = {}): Face {
  return definition.create(optionsOf(definition.config, overrides) as never, fakeHost());
}

/** A document as the gateway has it. */
export function documentFor(value: JsonObject): JsonDocument {
  return writtenDocument(value);
}

/** The error of a case: `{code, message}` and members of `GatewayErrorOptions`. */
export function errorOf(given: JsonValue | undefined): GatewayError {
  must(
    isObject(given) && typeof given.code === "string" && typeof given.message === "string",
    "An error needs a code and a message.",
  );
  const { code, message, ...options } = given;
  return new GatewayError(code as never, message, options as GatewayErrorOptions);
}
