/**
 * Checks requests: every text. The upstream reads the same members: the listener has refused those
 * that stand twice.
 */

import { IS_JUDGED } from "@sluice/runtime";
import { isObject } from "@sluice/kit";
import { type BodyText, type Ending, endingOf, rewritten, withTexts } from "@sluice/kit/internals";
import { bodyTexts } from "@sluice/kit/guard";
import { checkTexts, type GuardrailSet, type Vault } from "@sluice/runtime/guard";
import {
  type Exchange,
  GatewayError,
  type GatewayRequest,
  type JsonValue,
  type Operation,
} from "@sluice/contract";
import { addressTexts } from "./address.ts";
import type { GuardrailsConfig } from "./config.ts";

/** The guards of a request. */
export interface RequestGuard {
  readonly set: GuardrailSet;
  readonly vault: Vault;
  /** Whether a target may send the request's metadata to its provider. */
  readonly forwardsNotes: boolean;
}

/** Checks the texts for the upstream, and replaces edited ones. */
export async function guardRequest(
  exchange: Exchange,
  config: GuardrailsConfig,
  { set, vault, forwardsNotes }: RequestGuard,
): Promise<void> {
  const { request, operation } = exchange;
  if (request === undefined || set.isEmpty) return;
  if (request.native !== undefined) IS_JUDGED.set(exchange, true);
  const { document, model, stream, raw } = request;
  const body = document.value;
  if (raw !== undefined && Object.keys(body).length === 0 && config.unreadable !== "allow")
    throw unreadable("body");
  const about = { exchange: exchange.id, operation, model };
  if (set.admits) await set.admit(Object.freeze({ ...about, stream, body: deepFreeze(body) }));
  const { texts, opaque } = bodyTexts(body, operation, config.join, tooManyTexts);
  if (opaque.length > 0 && config.unreadable !== "allow") throw unreadable(opaque[0] ?? "body");
  vault.avoid(texts.map(({ text }) => text));
  const context = { ...about, direction: "input" } as const;
  const all = [
    ...texts,
    ...addressTexts(exchange),
    ...(forwardsNotes ? notesOf(request, operation) : []),
  ];
  const ending = endingOf(exchange);
  const order = config.order ?? "parallel";
  const edits = await checkTexts(all, { set, order, context, vault, ending });
  if (edits.size > 0) exchange.request = await edited(request, edits, ending);
}

/** The texts of the metadata, which stand beside the document. They can be refused, not edited. */
function notesOf({ fields }: GatewayRequest, operation: Operation): BodyText[] {
  const metadata = fields.metadata as JsonValue | undefined;
  if (!isObject(metadata)) return [];
  const { texts } = bodyTexts({ metadata }, operation);
  return texts
    .filter(({ parts }) => parts === undefined)
    .map((text) => ({ ...text, isFixed: true }));
}

function tooManyTexts(most: number): GatewayError {
  return new GatewayError(
    "invalid_json",
    `The body has more than ${most} texts, which guardrails check.`,
  );
}

/** The frozen body, so that no guardrail can change it. Later steps make copies in any case. */
function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/** The request with edited texts. */
async function edited(
  request: GatewayRequest,
  edits: ReadonlyMap<BodyText, string>,
  ending: Ending,
): Promise<GatewayRequest> {
  const { document, raw } = request;
  if (raw === undefined) return { ...request, document: await withTexts(document, edits, ending) };
  // A native body is forwarded as bytes. It has an edited text, so that the bytes are its JSON.
  const read = rewritten({ value: document.value, bytes: raw });
  const written = await withTexts(read, edits, ending);
  const { bytes } = written;
  return {
    ...request,
    document: written,
    raw: typeof bytes === "string" ? Buffer.from(bytes, "utf8") : bytes,
  };
}

function unreadable(place: string): GatewayError {
  return new GatewayError(
    "guardrail_violation",
    `\`${place}\` holds content that the guardrails cannot read.`,
    { param: place },
  );
}
