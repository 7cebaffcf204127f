/** Sticky requests: the key that they share, and the target of a key. */

import { isObject } from "@sluice/kit";
import type { Exchange, Identity, JsonValue } from "@sluice/contract";
import type { StickyBy } from "./config.ts";

const PREFIX_CHARACTERS = 1_024;

/**
 * The sticky key of a request; `undefined` when it has none. The names of users and sessions are
 * those of one key: with the name of another key's user, a client does not reach that user's
 * target. A prompt prefix is common, as the provider's prompt cache is.
 */
export function stickyKey(exchange: Exchange, by: StickyBy, header: string): string | undefined {
  const { identity, request, client } = exchange;
  switch (by) {
    case "key":
      return identity?.keyId;
    case "user":
      return ofKey(identity, request?.endUser ?? identity?.userId);
    case "header":
      return ofKey(identity, client.header(header));
    case "prompt_prefix":
      return promptPrefix(request?.document.value ?? {});
    default:
      return by satisfies never;
  }
}

function ofKey(identity: Identity | undefined, name: string | undefined): string | undefined {
  return name === undefined ? undefined : `${identity?.keyId ?? ""}\n${name}`;
}

/**
 * The messages up to the first user message. All turns of a conversation share them, and with them
 * the provider's prompt cache.
 */
function promptPrefix({
  messages,
  input,
  prompt,
}: Readonly<Record<string, JsonValue | undefined>>): string | undefined {
  let text = "";
  for (const message of Array.isArray(messages)
    ? (messages as readonly JsonValue[])
    : [input ?? prompt]) {
    if (message === undefined || text.length >= PREFIX_CHARACTERS) break;
    const content = isObject(message) ? message.content : message;
    text += `${typeof content === "string" ? content : JSON.stringify(content ?? null)}\n`;
    if (isObject(message) && message.role === "user") break;
  }
  return text === "" ? undefined : text.slice(0, PREFIX_CHARACTERS);
}

/**
 * The score of a target for a key: the highest one is chosen (rendezvous hashing). A target that
 * comes or goes moves only its own share of the keys. Weights by Schindelhauer and Schomaker:
 * -weight / ln(hash).
 */
export function rendezvousScore(key: string, targetId: string, weight: number): number {
  const hash = (hashOf(`${targetId}\n${key}`) + 0.5) / 2 ** 32;
  return -weight / Math.log(hash);
}

/**
 * FNV-1a over the UTF-16 units, and MurmurHash3's finalizer, so that keys that differ in one digit
 * lie far apart.
 */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
