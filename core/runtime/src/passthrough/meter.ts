/**
 * Reads the usage of a native reply from its bytes without changing them, and keeps its texts in
 * case no usage arrives.
 */

import type { JsonObject, StreamFraming, Usage } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";
import {
  BEDROCK_METRICS,
  carriedReply,
  joinUsage,
  pieces,
  usagePlace,
} from "@sluice/kit/internals";
import { Native } from "@sluice/kit/passthrough";
import { ObservedText } from "../openai/tokens/observed-text.ts";
import { nativeTexts } from "./native-texts.ts";
import { createReplyEvents } from "./reply-events.ts";

/** Reads passing bytes. An unreadable reply has no usage, which is not a failure. */
export interface UsageMeter {
  push(chunk: Uint8Array): void;
  /** The usage so far, after the reply ended or was cut. */
  end(): Usage | undefined;
  /**
   * Whether the usage covers the whole reply, where it ended by its dialect (`isCut` false) or was
   * cut.
   */
  isTotal(isCut: boolean): boolean;
  /** Whether the framing of the reply is known, so that its texts can be counted. */
  readonly isRead: boolean;
  /** The texts of the reply, or a sample of them. The whole is `scale` times as long. */
  texts(): readonly string[];
  readonly scale: number;
  /** The id of the reply in its first event, or in the whole reply. Absent: none was found. */
  readonly replyId?: unknown;
}

/** A member that only chunks of chat completions have. */
const CHAT_CHUNK = '"object":"chat.completion.chunk"';

/** Words in events with a usage; most events have none of them. */
const USAGE_WORDS = ['"usage', BEDROCK_METRICS, '"billed_units"', '"prompt_eval_count"'];
/** Words in events of OpenAI's responses whose item is a billed use of a tool. */
const TOOL_WORDS = ['"web_search_call"', '"file_search_call"', '"code_interpreter_call"'];

/** The facts about a reply besides its bytes. */
export interface MeteredReply {
  readonly contentType: string | undefined;
  /** `finish-reason`, Stability's header. */
  readonly finishReason?: string | undefined;
  /** The provider's own framing of streams. */
  readonly framing?: StreamFraming | undefined;
}

/**
 * A meter for a reply. The bytes decide about the framing. The content type is read only for images
 * and to recognise a stream early. A bare image counts as generated where the reply has a finish
 * reason; any other is a file.
 */
export function createUsageMeter({ contentType, finishReason, framing }: MeteredReply): UsageMeter {
  if (
    contentType?.trim().toLowerCase().startsWith("image/") === true &&
    finishReason !== undefined
  ) {
    const usage = pieces(finishReason === "SUCCESS" ? 1 : 0);
    return {
      push() {},
      end: () => usage,
      isTotal: () => true,
      isRead: true,
      texts: () => [],
      scale: 1,
    };
  }
  return new EventMeter(contentType, framing);
}

class EventMeter implements UsageMeter {
  replyId: unknown;
  /** Chunks of chat completions: their texts are found without parsing. */
  readonly #chat = new ObservedText();
  readonly #others = new ObservedText(nativeTexts);
  readonly #events;
  #usage: Usage | undefined;
  #place: "start" | "part" | "end" | undefined;
  #count = 0;

  constructor(contentType: string | undefined, framing: StreamFraming | undefined) {
    this.#events = createReplyEvents(contentType, framing, (text) => this.#read(innerText(text)));
  }

  push(chunk: Uint8Array): void {
    this.#events.push(chunk);
  }

  end(): Usage | undefined {
    this.#events.end();
    return this.#usage;
  }

  isTotal(isCut: boolean): boolean {
    return (
      this.#usage !== undefined && (this.#place === "end" || (!isCut && this.#place === "part"))
    );
  }

  get isRead(): boolean {
    return this.#events.isRead === true;
  }

  texts(): readonly string[] {
    return [...this.#chat.texts(), ...this.#others.texts()];
  }

  get scale(): number {
    let kept = 0;
    let said = this.#events.cutBytes;
    for (const observed of [this.#chat, this.#others]) {
      const characters = observed.texts().reduce((sum, { length }) => sum + length, 0);
      kept += characters;
      said += characters * observed.scale;
    }
    return kept === 0 ? 1 : said / kept;
  }

  #read(text: string): void {
    const observed = text.includes(CHAT_CHUNK) ? this.#chat : this.#others;
    observed.add({ raw: text, chunk: () => objectOf(text) });
    // The first event may be the whole reply, in a form that reports its usage without one of the
    // words.
    const isFirst = this.#count++ === 0;
    const isWorthwhile = isFirst || isTelling(text);
    if (!isWorthwhile) return;
    let event: JsonObject;
    try {
      event = objectOf(text);
    } catch {
      return;
    }
    if (isFirst) this.replyId = carriedReply(event).id;
    const found = Native.readUsage(event);
    if (found === undefined) return;
    // Items come one by one; the end of the reply lists them all.
    const isItem = found.toolUses !== undefined && isObject(event.item);
    const before = isItem ? this.#usage?.toolUses : undefined;
    const toolUses = Native.addToolUses(before, found.toolUses);
    this.#usage = joinUsage(this.#usage, toolUses === undefined ? found : { ...found, toolUses });
    this.#place = usagePlace(event);
  }
}

function isTelling(text: string): boolean {
  return (
    USAGE_WORDS.some((word) => text.includes(word)) ||
    TOOL_WORDS.some((word) => text.includes(word))
  );
}

function objectOf(text: string): JsonObject {
  const value: unknown = parseJson(text);
  return isObject(value) ? value : {};
}

/** A chunk of Bedrock's InvokeModelWithResponseStream holds the model's own event as base64. */
const CHUNK_START = /^\s*\{\s*"bytes"\s*:\s*"([A-Za-z0-9+/=]+)"/;

function innerText(data: string): string {
  const [, inner] = CHUNK_START.exec(data) ?? [];
  return inner === undefined ? data : Buffer.from(inner, "base64").toString("utf8");
}
