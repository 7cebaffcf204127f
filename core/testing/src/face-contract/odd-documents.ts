/** Documents that no client should send: `read` takes them or refuses them with a 4xx. */

import fc from "fast-check";
import { type Face, isGatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { must } from "../contract/fault.ts";
import { documentFor, FACE_MEANS } from "./cases.ts";
import { frozen } from "./play.ts";
import type { FaceRules } from "./rules.ts";

const DEFAULT_RUNS = 300;

/** Declares the property: every document is read, or refused with a GatewayError of a 4xx. */
export function testOddDocuments({ runner, face, cases, options }: FaceRules): void {
  const requests = cases.filter(({ kind, given }) => kind === "request" && isObject(given));
  const anything = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
  const changed = fc
    .tuple(
      fc.nat(Math.max(0, requests.length - 1)),
      fc.array(fc.tuple(fc.nat(), anything), { minLength: 1, maxLength: 3 }),
    )
    .map(([at, changes]) => {
      const given = requests[at]?.given ?? options.request;
      const value = changes.reduce<JsonValue>(
        (each, [place, put]) => replaced(each, place, put),
        given,
      );
      return isObject(value) ? value : {};
    });
  const objects = fc.dictionary(fc.string(), anything) as fc.Arbitrary<JsonObject>;
  runner.it("reads every odd document, or refuses it with a 4xx", () => {
    const client = cases[0]?.askedBy;
    if (client === undefined) return;
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: changed }, objects), (document) => {
        try {
          const { body } = face.read(documentFor(frozen(document)), client, FACE_MEANS);
          must(isObject(body), "The body is no object.");
          JSON.stringify(body);
          openOdd(face, frozen(document));
        } catch (error) {
          must(isGatewayError(error), `It threw ${String(error)}`);
          must(error.status >= 400 && error.status < 500, `It refused with ${error.status}.`);
        }
      }),
      { numRuns: options.oddDocuments ?? DEFAULT_RUNS },
    );
  });
}

/** References of an odd document, nothing of which is kept. */
function openOdd({ keeping }: Face, value: JsonObject): void {
  if (keeping === undefined) return;
  const document = documentFor(value);
  const known = new Map<string, undefined>();
  for (let ids = keeping.references(document, known); ids.length > 0;) {
    must(!ids.some((id) => known.has(id)), "It asks for an entry that it knows.");
    for (const id of ids) known.set(id, undefined);
    ids = keeping.references(document, known);
  }
  keeping.wants(document);
  const isDetached = keeping.detached?.isWanted(document) === true;
  JSON.stringify(keeping.open(document, known, isDetached).document.value);
}

/** The value with another one at the place with a number, counted through all members. */
function replaced(value: JsonValue, place: number, put: JsonValue): JsonValue {
  const places: (readonly (string | number)[])[] = [];
  const visit = (each: JsonValue, path: readonly (string | number)[]): void => {
    places.push(path);
    if (typeof each !== "object" || each === null) return;
    for (const [name, member] of Object.entries(each)) visit(member as JsonValue, [...path, name]);
  };
  visit(value, []);
  return at(value, places[place % places.length] ?? [], put);
}

function at(value: JsonValue, path: readonly (string | number)[], put: JsonValue): JsonValue {
  const [name, ...rest] = path;
  if (name === undefined) return put;
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).map((each, index) =>
      index === Number(name) ? at(each, rest, put) : each,
    );
  return isObject(value) ? { ...value, [name]: at(value[name] ?? null, rest, put) } : value;
}
