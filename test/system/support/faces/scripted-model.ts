/**
 * A scripted model behind the upstream APIs, distinguished by the path: chat completions of OpenAI
 * and of Mistral, OpenAI's responses, Anthropic's messages, Gemini's generateContent, Bedrock's converse, Cohere's
 * chat. It says the same in each of them.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { ServerResponse } from "node:http";
import {
  createNativeUpstream,
  type NativeRequest,
  type NativeUpstream,
} from "../native-upstream.ts";
import { ANTHROPIC } from "./apis/anthropic.ts";
import { BEDROCK } from "./apis/bedrock.ts";
import { COHERE } from "./apis/cohere.ts";
import { GEMINI } from "./apis/gemini.ts";
import { MISTRAL, OPENAI } from "./apis/openai.ts";
import { RESPONSES } from "./apis/responses.ts";
import { type Api, JSON_TYPE, type Said } from "./apis/said.ts";

export type { Said, SaidCall, SaidFailure } from "./apis/said.ts";

/** A running model. */
export interface ScriptedModel extends NativeUpstream {
  /** The replies from now on, in their order; the last one repeats. */
  says(...replies: readonly Said[]): void;
  /** Says by the request. */
  saysTo(reply: (request: NativeRequest) => Said): void;
  /** Streams that the gateway closed before their end. */
  readonly closed: number;
}

/** Starts a model on a free port. */
export async function createScriptedModel(): Promise<ScriptedModel> {
  const upstream = await createNativeUpstream();
  let choose: (request: NativeRequest) => Said = () => ({ text: "Hello back." });
  let closed = 0;
  upstream.answer((response, request) => {
    response.on("close", () => (closed += response.writableFinished ? 0 : 1));
    void answer(response, request, choose(request));
  });
  return {
    ...upstream,
    requests: upstream.requests,
    get closed() {
      return closed;
    },
    says(...replies) {
      let next = 0;
      choose = () => replies[Math.min(next++, replies.length - 1)] ?? {};
    },
    saysTo: (reply) => (choose = reply),
  };
}

async function answer(response: ServerResponse, request: NativeRequest, said: Said): Promise<void> {
  const { failure, delayMs } = said;
  if (said.isSilent === true) return;
  if (delayMs !== undefined) await pause(delayMs);
  await said.until;
  if (failure !== undefined) {
    const { status, message = "It failed.", headers = {} } = failure;
    const isBedrock = apiOf(request) === BEDROCK;
    const body = isBedrock ? { message } : { error: { message, type: "x", code: "x" } };
    response.writeHead(status, { "content-type": JSON_TYPE, ...headers }).end(JSON.stringify(body));
    return;
  }
  const api = apiOf(request);
  if (!api.isStreamed(request)) {
    const body = JSON.stringify(api.whole(said));
    response.writeHead(200, {
      "content-type": JSON_TYPE,
      "content-length": Buffer.byteLength(body),
    });
    if (said.cutAfter === undefined) response.end(body);
    else response.write(body.slice(0, body.length / 2), () => response.destroy());
    return;
  }
  response.writeHead(200, { "content-type": api.type });
  const events = api.events(said);
  const count = countOf(events, said);
  response.flushHeaders();
  for (const [index, event] of events.slice(0, count).entries()) {
    // oxlint-disable-next-line no-await-in-loop -- as below.
    if (index === said.pausedAfter?.events) await said.pausedAfter.until;
    response.write(event);
    // Each event in a packet of its own.
    // oxlint-disable-next-line no-await-in-loop -- one after the other is the point.
    await pause(1);
  }
  if (said.cutAfter !== undefined || said.cutBefore !== undefined) response.destroy();
  else if (said.silentAfter === undefined && said.silentBefore === undefined) response.end();
}

/** How many events are sent. */
function countOf(events: readonly (string | Buffer)[], said: Said): number {
  const { cutAfter = Infinity, silentAfter = Infinity } = said;
  const piece = said.cutBefore ?? said.silentBefore;
  const before = piece === undefined ? -1 : events.findIndex((each) => each.includes(piece));
  if (piece !== undefined && before < 0) throw new Error(`No event has the piece ${piece}.`);
  return Math.min(cutAfter, silentAfter, before < 0 ? Infinity : before, events.length);
}

/** The API of a request, by its path. Compatible providers speak that of OpenAI. */
function apiOf({ url }: NativeRequest): Api {
  if (url.includes("/v1/messages")) return ANTHROPIC;
  if (/:(?:stream)?[gG]enerateContent/.test(url)) return GEMINI;
  if (/\/converse(?:-stream)?$/.test(url)) return BEDROCK;
  if (url.endsWith("/v2/chat")) return COHERE;
  if (url.endsWith("/responses")) return RESPONSES;
  return url.startsWith("/mistral/") ? MISTRAL : OPENAI;
}
