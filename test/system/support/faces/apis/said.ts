/** What a scripted model says, and the parts of every API that it says it in. */

import type { NativeRequest } from "../../native-upstream.ts";

/** What the model says, in this order: thought, text, calls. */
export interface Said {
  readonly thought?: string;
  readonly text?: string;
  readonly calls?: readonly SaidCall[];
  /** Why it stopped. Default: the calls, or the end of the turn. `filter` is not in every API. */
  readonly stop?: SaidStop;
  /** Characters of a piece of a stream. Default: no text is split. */
  readonly piece?: number;
  /** Tokens of prompt and reply, all of them. Default: 20 and 5. */
  readonly usage?: readonly [number, number];
  /** Parts of these tokens; an API without such a part does not say it. */
  readonly parts?: SaidParts;
  /** Whether each piece of the text has a log probability, in an API that says so. */
  readonly hasLogprobs?: boolean;
  /** What proves a thought to the provider, in base64. Absent: a fixed one. */
  readonly signature?: string;
  /** A failure instead. */
  readonly failure?: SaidFailure;
  /** Events after which the connection is destroyed; a whole reply breaks in the middle. */
  readonly cutAfter?: number;
  /** The piece before which the connection is destroyed. */
  readonly cutBefore?: string;
  /** The piece before which the stream goes silent until the gateway closes it. */
  readonly silentBefore?: string;
  /** Events after which the stream goes silent until the gateway closes it. */
  readonly silentAfter?: number;
  /** No reply at all, until the gateway closes the connection. */
  readonly isSilent?: boolean;
  /** Milliseconds before the first byte. */
  readonly delayMs?: number;
  /** No byte before this. */
  readonly until?: Promise<void>;
  /** A pause of the stream after so many events. */
  readonly pausedAfter?: { readonly events: number; readonly until: Promise<void> };
}

export type SaidStop = "end" | "length" | "filter" | "sequence" | "calls";

/** Of the prompt, tokens read from a cache and written to it; of the reply, those of thoughts. */
export interface SaidParts {
  readonly cached?: number;
  readonly written?: number;
  readonly reasoning?: number;
}

/** A call of a tool. */
export interface SaidCall {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

/** A reply with an error status. */
export interface SaidFailure {
  readonly status: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One upstream API. */
export interface Api {
  /** The content type of its streams. */
  readonly type: string;
  isStreamed(request: NativeRequest): boolean;
  whole(said: Said): object;
  events(said: Said): readonly (string | Buffer)[];
}

export const SSE = "text/event-stream";
export const JSON_TYPE = "application/json";
/** The sequence that a reply stops at. */
export const SEQUENCE = "zqsequencezq";

/** A signature: base64 that no client and no gateway can read. */
const SIGNED = Buffer.from("a signature of the scripted model").toString("base64");

export const signatureOf = ({ signature = SIGNED }: Said): string => signature;

/** Why the model stopped. */
export function stopOf({ stop, calls = [] }: Said): SaidStop {
  return stop ?? (calls.length > 0 ? "calls" : "end");
}

export function usageOf({ usage = [20, 5], parts = {} }: Said) {
  const [input, output] = usage;
  return { input, output, ...parts };
}

/** A text in pieces. */
export function piecesOf(text: string, { piece = text.length }: Said): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += piece) pieces.push(text.slice(at, at + piece));
  return pieces;
}

/** A server-sent event. */
export function eventText(data: object, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

export function hasStreamMember({ body }: NativeRequest): boolean {
  return (JSON.parse(body.toString()) as { readonly stream?: boolean }).stream === true;
}
