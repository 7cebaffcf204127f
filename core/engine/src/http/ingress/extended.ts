/**
 * What extensions read of a request. It becomes words of the client's own before the body is
 * checked: nothing that an extension reads passes a check that the client's words would not.
 */

import {
  type EdgeReading,
  type EdgeRequest,
  GatewayError,
  type GatewayRequest,
  type JsonDocument,
  type JsonObject,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { isGatewayOnly, OWN_GATEWAY_FIELDS } from "@sluice/runtime/dialect";
import type { Edge } from "../../generation/extensions.ts";
import { checkRecorded } from "./gateway-fields/gateway-fields.ts";
import { MAX_TAG_CHARACTERS, MAX_TAGS } from "./gateway-fields/table.ts";

/** Fields that a reader may set. Guardrails are the client's own word. */
const SETTABLE: ReadonlySet<string> = new Set(
  OWN_GATEWAY_FIELDS.filter((name) => name !== "guardrails"),
);

/** A request that an extension answers in place of the pipeline. It ends the pipeline. */
export class AnsweredByExtension extends GatewayError {
  readonly answer: NonNullable<EdgeReading["answer"]>;

  constructor(answer: NonNullable<EdgeReading["answer"]>) {
    super("internal_error", "An extension answers this request.");
    this.answer = answer;
  }
}

/** The readers of a generation for one request. */
export class ExtendedRequest {
  readonly #readers: Edge["readers"];
  readonly #about: Omit<EdgeRequest, "body">;
  #found: EdgeReading[] = [];

  constructor(readers: Edge["readers"], about: Omit<EdgeRequest, "body">) {
    this.#readers = readers;
    this.#about = about;
  }

  /** The document in the gateway's own words. */
  read(document: JsonDocument): JsonDocument {
    const changes = this.#changes(document.value);
    return changes === undefined ? document : document.with(changes);
  }

  /**
   * The fields of a native body, and the members that the upstream must not get: its other bytes
   * stay.
   */
  readNative(body: JsonObject): { readonly fields: JsonObject; readonly taken: readonly string[] } {
    const changes = this.#changes(body) ?? {};
    const entries = Object.entries(changes);
    return {
      fields: Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as JsonObject,
      taken: entries.flatMap(([name, value]) => (value === undefined ? [name] : [])),
    };
  }

  /** The request with what was read beside its fields. */
  finish(request: GatewayRequest): GatewayRequest {
    let finished = request;
    for (const { endUser, tags = [], metadata } of this.#found) {
      if (metadata !== undefined) checkRecorded(metadata);
      const all = [...finished.tags, ...tags.map(shortTag).filter((tag) => tag !== "")];
      finished = {
        ...finished,
        ...(endUser === undefined ? {} : { endUser }),
        tags: tags.length === 0 ? finished.tags : [...new Set(all)].slice(0, MAX_ALL_TAGS),
        metadata:
          metadata === undefined ? finished.metadata : { ...metadata, ...finished.metadata },
      };
    }
    return finished;
  }

  #changes(body: JsonObject): Record<string, JsonObject[string]> | undefined {
    let changes: Record<string, JsonObject[string]> | undefined;
    for (const read of this.#readers) {
      const found = read({ ...this.#about, body });
      if (found === undefined) continue;
      if (found.answer !== undefined && this.#about.mayAnswer)
        throw new AnsweredByExtension(found.answer);
      this.#found.push(found);
      for (const name of found.taken ?? []) {
        if (!isGatewayOnly(name) || name === "guardrails") throw misuse("takes", name);
        (changes ??= {})[name] = undefined;
      }
      for (const [name, value] of Object.entries(found.fields ?? {})) {
        const isHidden = name === "metadata" && isObject(body.metadata);
        if (!SETTABLE.has(name) || isHidden) throw misuse("sets", name);
        (changes ??= {})[name] = value;
      }
    }
    return changes;
  }
}

/** Those of a body, of a header, and as many of an extension. */
const MAX_ALL_TAGS = 3 * MAX_TAGS;
const CONTROL = /\p{Cc}/u;

function shortTag(tag: string): string {
  return CONTROL.test(tag) ? "" : tag.trim().slice(0, MAX_TAG_CHARACTERS);
}

function misuse(what: string, name: string): GatewayError {
  const cause = new Error(`An extension ${what} the member ${JSON.stringify(name)} of a request.`);
  return new GatewayError("plugin_failed", "An extension failed on this request.", { cause });
}
