/**
 * Encodes outcomes of tests as upstream replies: in the reference dialect, or in the provider's own
 * where the test writes it.
 */

import type { Operation } from "@sluice/contract";
import { inputCount } from "@sluice/kit/internals";
import type { ScriptedAnswer } from "@sluice/runtime/transport";
import type { TestOutcomeSection } from "../config/schema/pipeline-tests.ts";

/** The parts of a request that determine its reply. */
export interface Asked {
  readonly operation: Operation;
  readonly stream: boolean;
  /** The request's body; empty when it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** 2023-11-14, so that replies are the same on every day. */
const CREATED_SECONDS = 1_700_000_000;
const PROMPT_TOKENS = 10;
const COMPLETION_TOKENS = 5;
/** A PNG of one white pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAusB9Wm6WQAAAABJRU5ErkJggg==";

/** Whether the provider's own plugin decodes the outcome. */
export function isNative({ body, events }: TestOutcomeSection): boolean {
  return body !== undefined || events !== undefined;
}

/** The scripted answer to a request. */
export function answerOf(outcome: TestOutcomeSection, asked: Asked): ScriptedAnswer {
  if (outcome.silent === true) return { kind: "silent" };
  if (outcome.refused === true) return { kind: "refused" };
  const status = outcome.status ?? 200;
  const isGood = status >= 200 && status <= 299;
  const { type, pieces } = contentOf(outcome, asked, isGood);
  const stop = outcome.cut_after ?? outcome.silent_after;
  const chunks = stop === undefined ? pieces : pieces.slice(0, stop);
  const end =
    outcome.cut_after !== undefined
      ? "cut"
      : outcome.silent_after !== undefined
        ? "silent"
        : "whole";
  return {
    kind: "response",
    status,
    headers: { "content-type": type, ...outcome.headers },
    chunks,
    end,
  };
}

interface Content {
  readonly type: string;
  readonly pieces: readonly string[];
}

function contentOf(outcome: TestOutcomeSection, asked: Asked, isGood: boolean): Content {
  if (outcome.events !== undefined)
    return { type: "text/event-stream", pieces: outcome.events.map(eventOf) };
  if (outcome.body !== undefined)
    return { type: "application/json", pieces: [textOf(outcome.body)] };
  if (!isGood) return { type: "application/json", pieces: [JSON.stringify(errorOf(outcome))] };
  if (asked.stream) {
    return {
      type: "text/event-stream",
      pieces: [...chunksOf(outcome, asked).map(eventOf), "data: [DONE]\n\n"],
    };
  }
  return { type: "application/json", pieces: [JSON.stringify(wholeOf(outcome, asked))] };
}

function eventOf(data: unknown): string {
  return `data: ${textOf(data)}\n\n`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function errorOf({
  status,
  message = `The test's upstream answers with ${status}.`,
  code,
}: TestOutcomeSection): unknown {
  return { error: { message, type: "test_error", param: null, code: code ?? null } };
}

function wholeOf(outcome: TestOutcomeSection, { operation, body }: Asked): unknown {
  const model = String(body["model"] ?? "");
  switch (operation) {
    case "embeddings": {
      const count = inputCount(body["input"] as never);
      const data = Array.from({ length: count }, (_, index) => ({
        object: "embedding",
        index,
        embedding: [0.25, -0.5, 1],
      }));
      return { object: "list", data, model, ...usageOf(outcome, false) };
    }
    case "images": {
      const image =
        body["response_format"] === "url"
          ? { url: "https://sluice-test.invalid/image.png" }
          : { b64_json: PIXEL };
      return {
        created: CREATED_SECONDS,
        data: Array.from({ length: Number(body["n"] ?? 1) }, () => image),
      };
    }
    default: {
      const message = {
        role: "assistant",
        content: contentText(outcome),
        refusal: null,
        ...toolCallsOf(outcome),
      };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: finishOf(outcome) }];
      const head = {
        id: "chatcmpl-test",
        object: "chat.completion",
        created: CREATED_SECONDS,
        model,
      };
      return { ...head, choices, ...usageOf(outcome, true) };
    }
  }
}

function chunksOf(outcome: TestOutcomeSection, { body }: Asked): unknown[] {
  const head = {
    id: "chatcmpl-test",
    object: "chat.completion.chunk",
    created: CREATED_SECONDS,
    model: String(body["model"] ?? ""),
  };
  const chunk = (delta: unknown, finish: string | null = null): unknown => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  const text = contentText(outcome);
  const pieces = outcome.chunks ?? (text === null ? [] : [text]);
  const calls = toolCallsOf(outcome).tool_calls?.map((call, index) => ({ index, ...call }));
  const usage = usageOf(outcome, true);
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces.map((content) => chunk({ content })),
    ...(calls === undefined ? [] : [chunk({ tool_calls: calls })]),
    chunk({}, finishOf(outcome)),
    ...("usage" in usage ? [{ ...head, choices: [], ...usage }] : []),
  ];
}

function contentText({ reply, chunks, tool_calls: calls }: TestOutcomeSection): string | null {
  return reply ?? chunks?.join("") ?? (calls === undefined ? "ok" : null);
}

function toolCallsOf({ tool_calls: calls }: TestOutcomeSection) {
  if (calls === undefined) return {};
  return {
    tool_calls: calls.map((call, index) => ({
      id: `call_${index + 1}`,
      type: "function",
      function: call,
    })),
  };
}

function finishOf({ finish_reason: reason, tool_calls: calls }: TestOutcomeSection): string {
  return reason ?? (calls === undefined ? "stop" : "tool_calls");
}

function usageOf({ usage }: TestOutcomeSection, hasCompletion: boolean) {
  if (usage === "none") return {};
  const prompt = usage?.prompt_tokens ?? PROMPT_TOKENS;
  const completion = hasCompletion ? (usage?.completion_tokens ?? COMPLETION_TOKENS) : 0;
  const total = { prompt_tokens: prompt, total_tokens: prompt + completion };
  return { usage: hasCompletion ? { ...total, completion_tokens: completion } : total };
}
