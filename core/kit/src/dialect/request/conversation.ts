/**
 * Converts messages to turns: system texts apart, consecutive messages of one side joined, results
 * of parallel calls in one turn.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import * as Stages from "../../stages.ts";
import {
  cacheMarker,
  type ContentPart,
  givenBack,
  readContent,
  readThinking,
  type TextPart,
  type ThinkingPart,
} from "./parts.ts";
import { inGivenOrder } from "./content-order.ts";
import { excessOfArguments } from "../../json/bounds/call-arguments.ts";
import { parseExactObject } from "../members.ts";
import { invalidField, type Refuse } from "../refusal.ts";

/** A tool call of the model. */
export interface CallPart {
  readonly kind: "call";
  readonly path: string;
  readonly id: string;
  readonly name: string;
  /** The arguments as the client sent them. */
  readonly arguments: string;
  /**
   * The arguments as an object, with the numbers of `Members.parseExact`. Arguments that are not a
   * JSON object stand under `invalid_arguments`, so that the turn can be sent.
   */
  readonly input: JsonObject;
  readonly cacheControl?: JsonObject;
  /** Data that the provider sent with the call and needs back, for example a signature. */
  readonly extra?: JsonObject;
}

/** The result of a tool. */
export interface ResultPart {
  readonly kind: "result";
  readonly path: string;
  /** The id of the call. */
  readonly id: string;
  /** The name of the tool: the message's own, else that of the call. Some providers need it. */
  readonly name: string | undefined;
  readonly parts: readonly ContentPart[];
  readonly isError: boolean;
  readonly cacheControl?: JsonObject;
}

/** A part of a turn, discriminated by its `kind`. */
export type Part = ContentPart | CallPart | ResultPart;

/** The consecutive parts of one side. */
export interface Turn {
  readonly role: "user" | "assistant";
  /**
   * Never empty. Results come first, in the order of their calls. An assistant's thoughts come
   * first, its calls last; but for a dialect that keeps the order of `content_blocks`.
   */
  readonly parts: readonly Part[];
}

/** A conversation without its instructions, and the instructions. */
export interface Conversation {
  /** The texts of all system and developer messages, in their order. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

/** What a dialect can say of a conversation. Both are false where they are absent. */
export interface ConversationOptions {
  /** Whether an assistant's parts stay in the order of its `content_blocks`. */
  readonly keepsOrder?: boolean | undefined;
  /** Whether it takes blocks of the client's own dialect. */
  readonly takesNativeBlocks?: boolean | undefined;
}

/** Reads `messages`, in stages. Throws `invalid_field`, or refuses a block. */
export function* readConversation(
  messages: JsonValue | undefined,
  refuse: Refuse,
  { keepsOrder = false, takesNativeBlocks = false }: ConversationOptions = {},
): Stages.Of<Conversation> {
  if (!Array.isArray(messages)) throw invalidField("messages", "an array");
  const system: TextPart[] = [];
  const turns: OpenTurn[] = [];
  const clock = new Stages.Clock();
  const seen: Seen = { names: new Map(), legacy: new Map(), keepsOrder, takesNativeBlocks, clock };
  for (const [index, message] of (messages as readonly JsonValue[]).entries()) {
    if (clock.isOver()) yield;
    const path = `messages[${index}]`;
    if (!isObject(message)) throw invalidField(path, "an object");
    const parts = withMarker(yield* readMessage(message, path, seen, refuse), message);
    if (message.role === "system" || message.role === "developer") {
      system.push(
        ...parts.map((part) =>
          part.kind === "text" ? part : refuse(part.path, `a ${part.kind} in instructions`),
        ),
      );
      continue;
    }
    if (parts.length === 0) continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const isOrdered = keepsOrder && Array.isArray(message.content_blocks);
    const last = turns.at(-1);
    if (last?.role === role) {
      last.parts.push(...parts);
      last.isOrdered ||= isOrdered;
    } else turns.push({ role, parts, isOrdered });
  }
  const inOrder: Turn[] = [];
  for (const [index, turn] of turns.entries()) {
    inOrder.push(ordered(turn, turns[index - 1]));
    if (clock.isOver()) yield;
  }
  return { system, turns: inOrder };
}

/** A turn that the next message may continue. */
interface OpenTurn {
  readonly role: Turn["role"];
  readonly parts: Part[];
  /** Whether a message of it has an order of its own. */
  isOrdered: boolean;
}

/** Facts about calls from earlier messages. */
interface Seen {
  /** Names by id. */
  readonly names: Map<string, string>;
  /** The number of calls of each legacy function. */
  readonly legacy: Map<string, number>;
  readonly keepsOrder: boolean;
  readonly takesNativeBlocks: boolean;
  readonly clock: Stages.Clock;
}

function* readMessage(
  message: JsonObject,
  path: string,
  seen: Seen,
  refuse: Refuse,
): Stages.Of<Part[]> {
  const content = (): Stages.Of<ContentPart[]> =>
    readContent(message.content, `${path}.content`, refuse, seen);
  switch (message.role) {
    case "system":
    case "developer":
    case "user":
      return yield* content();
    case "assistant": {
      const calls = readCalls(message, path, seen);
      for (const { id, name } of calls) seen.names.set(id, name);
      const said = {
        thoughts: thoughts(message, path),
        content: withExtra(yield* content(), message),
        calls,
      };
      const kept = seen.keepsOrder ? inGivenOrder(message, path, said) : undefined;
      return [
        ...(kept ?? [...said.thoughts, ...said.content]),
        ...refusalText(message, path),
        ...(kept === undefined ? calls : []),
      ];
    }
    case "tool":
    case "function": {
      const own = typeof message.name === "string" ? message.name : undefined;
      const id = message.role === "tool" ? message.tool_call_id : legacyId(own ?? "", seen);
      if (typeof id !== "string" || id === "")
        throw invalidField(`${path}.tool_call_id`, "the id of a call");
      return [
        {
          kind: "result",
          path,
          id,
          name: own ?? seen.names.get(id),
          parts: yield* content(),
          isError: message.is_error === true,
        },
      ];
    }
    default:
      throw invalidField(`${path}.role`, "system, developer, user, assistant, tool or function");
  }
}

/** Thoughts come back as blocks with their signatures. A bare `reasoning_content` has none. */
function thoughts(message: JsonObject, path: string): ThinkingPart[] {
  const { thinking_blocks: blocks, reasoning_content: text } = message;
  if (Array.isArray(blocks) && blocks.length > 0) {
    return blocks.map((block: JsonValue, index) => {
      if (!isObject(block)) throw invalidField(`${path}.thinking_blocks[${index}]`, "an object");
      return readThinking(block, `${path}.thinking_blocks[${index}]`);
    });
  }
  if (typeof text !== "string" || text === "") return [];
  return [{ kind: "thinking", text, path: `${path}.reasoning_content` }];
}

function refusalText({ refusal }: JsonObject, path: string): TextPart[] {
  return typeof refusal === "string" && refusal.trim() !== ""
    ? [{ kind: "text", text: refusal, path: `${path}.refusal` }]
    : [];
}

function readCalls(message: JsonObject, path: string, seen: Seen): CallPart[] {
  const legacy = message.function_call;
  if (isObject(legacy)) {
    const name = callName(legacy, `${path}.function_call`);
    seen.legacy.set(name, (seen.legacy.get(name) ?? 0) + 1);
    return [
      {
        kind: "call",
        path: `${path}.function_call`,
        id: legacyId(name, seen),
        name,
        ...readArguments(legacy.arguments, `${path}.function_call`),
      },
    ];
  }
  const calls = message.tool_calls;
  if (!Array.isArray(calls)) return [];
  return calls.map((call: JsonValue, index) => {
    const at = `${path}.tool_calls[${index}]`;
    if (!isObject(call) || !isObject(call.function)) throw invalidField(at, "a function call");
    if (typeof call.id !== "string" || call.id === "")
      throw invalidField(`${at}.id`, "the id of the call");
    const name = callName(call.function, `${at}.function`);
    return {
      kind: "call",
      path: at,
      id: call.id,
      name,
      ...readArguments(call.function.arguments, `${at}.function`),
      ...cacheMarker(call),
      ...givenBack(call),
    };
  });
}

function callName({ name }: JsonObject, path: string): string {
  if (typeof name !== "string" || name === "")
    throw invalidField(`${path}.name`, "the name of the function");
  return name;
}

/** Legacy functions have no ids: a result belongs to the last call of its name. */
function legacyId(name: string, { legacy }: Seen): string {
  return `function_${name}_${legacy.get(name) ?? 0}`;
}

function readArguments(
  value: JsonValue | undefined,
  path: string,
): Pick<CallPart, "arguments" | "input"> {
  const text = typeof value === "string" ? value : isObject(value) ? JSON.stringify(value) : "";
  if (text.trim() === "") return { arguments: text, input: {} };
  const excess = excessOfArguments(text);
  if (excess !== undefined) throw invalidField(`${path}.arguments`, `smaller: they have ${excess}`);
  // The model may have written invalid JSON. Its next turn must still see it.
  return { arguments: text, input: parseExactObject(text) ?? { invalid_arguments: text } };
}

/** A marker on a message applies to its last block. */
function withMarker(parts: Part[], message: JsonObject): Part[] {
  const { cacheControl } = cacheMarker(message);
  const last = parts.at(-1);
  if (cacheControl === undefined || last === undefined || last.cacheControl !== undefined)
    return parts;
  return [...parts.slice(0, -1), { ...last, cacheControl }];
}

/** Extra data of an assistant's answer belongs to its last text. */
function withExtra(parts: ContentPart[], message: JsonObject): ContentPart[] {
  const last = parts.at(-1);
  return last?.kind === "text"
    ? [...parts.slice(0, -1), { ...last, ...givenBack(message) }]
    : parts;
}

/**
 * Results come first, in the order of the calls that they answer. Thoughts precede other parts;
 * calls come last.
 */
function ordered({ role, parts, isOrdered }: OpenTurn, before: OpenTurn | undefined): Turn {
  if (role === "assistant") {
    if (isOrdered) return { role, parts };
    const rank = ({ kind }: Part): number => (kind === "call" ? 1 : 0);
    return { role, parts: parts.toSorted((a, b) => rank(a) - rank(b)) };
  }
  if (!parts.some(({ kind }) => kind === "result")) return { role, parts };
  const places = new Map<string, number>();
  for (const part of before?.parts ?? [])
    if (part.kind === "call" && !places.has(part.id)) places.set(part.id, places.size);
  const rank = (part: Part): number =>
    part.kind === "result" ? (places.get(part.id) ?? places.size) : Infinity;
  // Equal ranks need a comparison of their own: Infinity - Infinity is NaN.
  return { role, parts: parts.toSorted((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b))) };
}
