/** Reads the usage of a native reply while its bytes go by, untouched, and keeps what it says in case that no usage comes. */

import type { JsonObject, Usage } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { ObservedText } from "../openai/observed-text.ts";
import { nativeTexts } from "./native-texts.ts";
import { BEDROCK_METRICS, joinUsage, pieces, readNativeUsage, usagePlace } from "./native-usage.ts";
import { createReplyEvents } from "./reply-events.ts";

/** Looks at bytes that go by. A reply that cannot be read has no usage; that is no failure. */
export interface UsageMeter {
  push(chunk: Uint8Array): void;
  /** The usage so far, once the reply has ended or was cut. */
  end(): Usage | undefined;
  /** Whether the usage is that of the whole reply, where it ended as its dialect says (`isCut` false) or was cut. */
  isTotal(isCut: boolean): boolean;
  /** Whether the reply is of a framing that is known, so that its texts can be counted. */
  readonly isRead: boolean;
  /** What the reply said, or a sample of it that stands for `scale` times as much. */
  texts(): readonly string[];
  scale(): number;
}

/** What only a chunk of a chat completion has. */
const CHAT_CHUNK = '"object":"chat.completion.chunk"';

/** Words that stand in events with a usage; most events have none of them. */
const USAGE_WORDS = ['"usage', BEDROCK_METRICS, '"billed_units"', '"prompt_eval_count"'];

/**
 * A meter of a reply. The framing is told by the bytes; the content type is asked for images alone, and to know a stream at once. A bare
 * image is one that was made where the reply says how it ended (`finish-reason`, Stability's header); any other is a file.
 */
export function createUsageMeter(contentType: string | undefined, finishReason?: string): UsageMeter {
  if (contentType?.trim().toLowerCase().startsWith("image/") === true && finishReason !== undefined) {
    const usage = pieces(finishReason === "SUCCESS" ? 1 : 0);
    return { push() {}, end: () => usage, isTotal: () => true, isRead: true, texts: () => [], scale: () => 1 };
  }
  return new EventMeter(contentType);
}

class EventMeter implements UsageMeter {
  /** Chunks of chat completions, whose texts are found without parsing. */
  readonly #chat = new ObservedText();
  readonly #others = new ObservedText(nativeTexts);
  readonly #events;
  #usage: Usage | undefined;
  #place: "start" | "part" | "end" | undefined;
  #count = 0;

  constructor(contentType: string | undefined) {
    this.#events = createReplyEvents(contentType, (text) => this.#read(innerText(text)));
  }

  push(chunk: Uint8Array): void {
    this.#events.push(chunk);
  }

  end(): Usage | undefined {
    this.#events.end();
    return this.#usage;
  }

  isTotal(isCut: boolean): boolean {
    return this.#usage !== undefined && (this.#place === "end" || (!isCut && this.#place === "part"));
  }

  get isRead(): boolean {
    return this.#events.isRead === true;
  }

  texts(): readonly string[] {
    return [...this.#chat.texts(), ...this.#others.texts()];
  }

  scale(): number {
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
    // The first event may be the whole reply, in any of the shapes that tell their usage without a word for it.
    const isWorthwhile = this.#count++ === 0 || USAGE_WORDS.some((word) => text.includes(word));
    if (!isWorthwhile) return;
    let event: JsonObject;
    try {
      event = objectOf(text);
    } catch {
      return;
    }
    const found = readNativeUsage(event);
    if (found === undefined) return;
    this.#usage = joinUsage(this.#usage, found);
    this.#place = usagePlace(event);
  }
}

function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}

/** A chunk of Bedrock's InvokeModelWithResponseStream holds the model's own event as base64. */
const CHUNK_START = /^\s*\{\s*"bytes"\s*:\s*"([A-Za-z0-9+/=]+)"/;

function innerText(data: string): string {
  const [, inner] = CHUNK_START.exec(data) ?? [];
  return inner === undefined ? data : Buffer.from(inner, "base64").toString("utf8");
}
