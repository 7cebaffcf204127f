/** LiteLLM's request headers. A number that is none is refused: a limit must not vanish. */

import {
  type ClientRequest,
  type EdgeRequest,
  GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";
import { secondsOf, wholeOf } from "./numbers.ts";

type Sent = Pick<EdgeRequest, "client">;

/** Seconds, rounded up to whole ones. Throws `invalid_field` with the header's name. */
export function headerSeconds({ client }: Sent, name: string): number | undefined {
  return numberIn(client, name, secondsOf, "a number of seconds above 0");
}

/** A whole number. Throws `invalid_field` with the header's name. */
export function headerWhole({ client }: Sent, name: string): number | undefined {
  return numberIn(client, name, wholeOf, "a whole number, 0 or more");
}

/** The names of a list with commas. */
export function headerTags({ client }: Sent, name: string): readonly string[] {
  const text = client.header(name);
  if (text === undefined) return [];
  return text
    .split(",", MAX_TAGS)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

/** A text that is not empty, without the blanks around it. */
export function headerText({ client }: Sent, name: string): string | undefined {
  const text = client.header(name)?.trim();
  return text === "" ? undefined : text;
}

/** An object as JSON. A value that is none says nothing, as with LiteLLM. */
export function headerObject({ client }: Sent, name: string): JsonObject | undefined {
  try {
    const value = parseJson(client.header(name) ?? "null") as JsonValue;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const MAX_TAGS = 64;

function numberIn(
  client: ClientRequest,
  name: string,
  read: (value: JsonValue) => number | undefined,
  what: string,
): number | undefined {
  const text = client.header(name)?.trim();
  if (text === undefined || text === "") return undefined;
  const value = read(text);
  if (value !== undefined) return value;
  throw new GatewayError("invalid_field", `The header ${name} must be ${what}.`, { param: name });
}
