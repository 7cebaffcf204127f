/** Every native stop reason, usage and error of every provider, in one run over data. */

import { type Frame, isGatewayError, type JsonObject, type Usage } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { ERRORS } from "./errors.ts";
import { chatRequest, PROVIDERS, type Subject } from "./providers.ts";
import { type Fact, REPLIES } from "./replies.ts";
import { CALL_WORDS, STOP_REASONS } from "./stop-reasons.ts";
import { USAGES } from "./usages.ts";

/**
 * What a client gets of a reply: the finish reason, or a failure's code; the native word beside it;
 * the usage.
 */
interface Got {
  readonly finish: unknown;
  readonly native: unknown;
  readonly usage: Usage | undefined;
}

function subjectOf(name: string): Subject {
  const subject = PROVIDERS[name];
  if (subject === undefined) throw new Error(`There is no provider ${name}.`);
  return subject;
}

function whole(name: string, fact: Fact): Got {
  const body = Buffer.from(JSON.stringify(REPLIES[name]?.whole(fact)));
  return orCode(() => {
    const { document, usage } = subjectOf(name).provider.decode(body, chatRequest(name, false));
    return { ...endOf([JSON.parse(Buffer.from(document.bytes).toString()) as JsonObject]), usage };
  });
}

function streamed(name: string, fact: Fact): Got {
  const frames: Frame[] = [];
  let usage: Usage | undefined;
  let dones = 0;
  const sink = {
    committed: false,
    frame: (frame: Frame) => void frames.push(frame),
    usage: (reported: Usage) => void (usage = reported),
    done: () => void dones++,
  };
  return orCode(() => {
    const translator = subjectOf(name).provider.stream(chatRequest(name, true));
    for (const [event, data] of REPLIES[name]?.events(fact) ?? []) {
      translator.event(
        { event, data: typeof data === "string" ? data : JSON.stringify(data) },
        sink,
      );
    }
    if (dones === 0) translator.end?.(sink);
    expect(dones).toBe(1);
    return { ...endOf(frames.map((frame) => frame.chunk())), usage };
  });
}

function orCode(run: () => Got): Got {
  try {
    return run();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return { finish: error.code, native: undefined, usage: undefined };
  }
}

/** The one finish reason that chunks or a reply have. */
function endOf(chunks: readonly JsonObject[]): Omit<Got, "usage"> {
  const choices = chunks.flatMap((chunk) => chunk.choices as readonly JsonObject[]);
  const ends = choices.filter(({ finish_reason: reason }) => typeof reason === "string");
  expect(ends).toHaveLength(1);
  return { finish: ends[0]?.finish_reason, native: ends[0]?.native_finish_reason };
}

describe("stop reasons", () => {
  it.each(Object.entries(STOP_REASONS))("of %s", (name, rows) => {
    for (const [stop, finish] of Object.entries(rows)) {
      const calls = finish === "tool_calls" ? { calls: true as const } : {};
      for (const got of [whole(name, { stop, ...calls }), streamed(name, { stop, ...calls })]) {
        // What the finish reason does not say any more, the native one says.
        const isOther = stop !== finish && !finish.startsWith("upstream_");
        expect({ stop, ...got }).toMatchObject({
          stop,
          finish,
          ...(isOther ? { native: stop } : {}),
        });
      }
    }
  });

  it.each(Object.entries(CALL_WORDS))("of %s with a call are tool_calls", (name, words) => {
    for (const stop of words) {
      expect([
        whole(name, { stop, calls: true }).finish,
        streamed(name, { stop, calls: true }).finish,
      ]).toEqual(["tool_calls", "tool_calls"]);
    }
  });

  it.each([
    "SAFETY",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "IMAGE_SAFETY",
    "MODEL_ARMOR",
    "JAILBREAK",
    "OTHER",
  ])("of a prompt that Gemini blocked are a refusal by policy: %s", (reason) => {
    for (const name of ["gemini", "vertex"]) {
      const { provider } = subjectOf(name);
      const body = JSON.stringify({
        promptFeedback: { blockReason: reason },
        usageMetadata: { promptTokenCount: 4 },
      });
      expect(
        orCode(() => void provider.decode(Buffer.from(body), chatRequest(name, false)) as never)
          .finish,
      ).toBe("content_policy_violation");
    }
  });
});

describe("usages", () => {
  it.each(USAGES)("of %s: %s", (name, _, native, usage) => {
    expect(whole(name, { usage: native }).usage).toMatchObject(usage);
    expect(streamed(name, { usage: native }).usage).toMatchObject(usage);
  });

  it.each(Object.keys(REPLIES))("that %s does not tell are unknown, not zero", (name) => {
    expect(whole(name, {}).usage).toBeUndefined();
    expect(streamed(name, {}).usage).toBeUndefined();
  });
});

describe("errors", () => {
  it.each(Object.entries(ERRORS))("of %s", (name, facts) => {
    for (const { status, body, headers = {}, code, retries, retryAfterMs, outward } of facts) {
      const error = subjectOf(name).provider.error({ status, headers, body: JSON.stringify(body) });
      const wanted = {
        code,
        retryable: retries,
        retryAfterMs,
        ...(outward === undefined ? {} : { status: outward }),
      };
      expect({ body, error }).toMatchObject({ body, error: wanted });
    }
  });

  it.each(["xai", "openrouter", "custom", "openai", "gemini", "anthropic"])(
    "inside of a 200 of %s are errors",
    (name) => {
      const { provider } = subjectOf(name);
      const body =
        name === "anthropic"
          ? { type: "error", error: { type: "overloaded_error", message: "No." } }
          : { error: { code: 503, message: "No." } };
      const got = orCode(
        () =>
          void provider.decode(
            Buffer.from(JSON.stringify(body)),
            chatRequest(name, false),
          ) as never,
      );
      expect(got.finish).toBe("upstream_overloaded");
    },
  );
});
