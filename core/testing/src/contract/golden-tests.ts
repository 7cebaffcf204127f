/**
 * Tests of a provider's fixtures: requests, replies, streams and errors against what must come out.
 */

import { Buffer } from "node:buffer";
import { inspect } from "node:util";
import type { JsonObject, Provider, ProviderRequest } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { ContractOptions, ContractRunner } from "./options.ts";
import { must } from "./fault.ts";
import type { Fixture, FixtureCase, FixtureKind } from "./fixtures.ts";
import { attempted, bodyText, replyOutcome, requestOutcome, shownError } from "./outcome.ts";
import { fingerprint, playStream, shownStream } from "./play-stream.ts";
import { amount } from "../proof.ts";
import { checkChunks, checkCompletion, checkUsage } from "./reply-rules.ts";
import { CONTRACT_KEY, REPLY_MODEL, requestOf } from "./subject.ts";

/** Bytes between two cuts of a stream. */
const cutStep = (): number => amount(7, 1);

/** One case and who is tested. */
export interface CaseSubject {
  readonly runner: ContractRunner;
  readonly each: FixtureCase;
  readonly provider: Provider;
  readonly name: string;
  readonly options: ContractOptions;
}

function of({ each }: CaseSubject, kind: FixtureKind): readonly Fixture[] {
  return each.fixtures.filter((fixture) => fixture.kind === kind);
}

function request({ each, name }: CaseSubject, body: JsonObject, stream: boolean): ProviderRequest {
  return requestOf(body, {
    provider: name,
    model: each.terms.model,
    operation: each.terms.operation,
    stream,
  });
}

/** Requests: the call, or the refusal; no key but in a header. */
export function testRequests(subject: CaseSubject): void {
  for (const fixture of of(subject, "request")) {
    subject.runner.it(`encodes ${fixture.title}`, () => {
      const body = JSON.parse(bodyText(fixture.input)) as JsonObject;
      const asked = request(subject, body, body.stream === true);
      const { provider, options } = subject;
      fixture.expect(requestOutcome(provider, asked));
      const made = attempted(() => provider.encode(asked));
      if ("error" in made || made.value.kind === "local") return;
      const { url, headers, body: sent } = made.value;
      must(
        !url.includes(CONTRACT_KEY) && !bodyText(sent).includes(CONTRACT_KEY),
        "The key stands in the URL or the body.",
      );
      must(
        !inspect(headers, { depth: 9 }).includes(CONTRACT_KEY),
        "A header holds the key as text, not as a secret.",
      );
      must(
        bodyText(sent) === secondBody(provider, asked),
        "The same request is encoded differently twice.",
      );
      const written: unknown = asked.operation === "chat" ? JSON.parse(bodyText(sent)) : undefined;
      if (isObject(written)) options.checkBody?.(written);
    });
  }
}

/** Whole replies: the completion, its usage and cost; unknown fields have no effect. */
export function testReplies(subject: CaseSubject): void {
  for (const fixture of of(subject, "reply")) {
    subject.runner.it(`decodes ${fixture.title}`, () => {
      const { provider, each } = subject;
      const asked = request(subject, each.body, false);
      fixture.expect(replyOutcome(provider, fixture.input, asked, each.terms.price));
      const made = attempted(() => provider.decode(fixture.input, asked));
      if ("error" in made) return;
      checkUsage(made.value.usage);
      if (asked.operation === "chat") checkCompletion(made.value.document.value, REPLY_MODEL);
      const text = bodyText(fixture.input).trim();
      if (!text.startsWith("{")) return;
      const odd = Buffer.from(`{"x_contract_unknown":{"a":[1]},${text.slice(1)}`);
      const again = provider.decode(odd, asked);
      must(
        inspect(again.usage) === inspect(made.value.usage),
        "An unknown field changes the usage.",
      );
    });
  }
}

/**
 * Streams: the chunks, their usage and cost; cut anywhere they say the same, given up anywhere they
 * said no more.
 */
export function testStreams(subject: CaseSubject): void {
  const { runner, provider, each } = subject;
  for (const fixture of of(subject, "stream")) {
    const asked = request(subject, { ...each.body, stream: true }, true);
    const { contentType, price } = each.terms;
    runner.it(`translates ${fixture.title}`, () => {
      const played = playStream(provider, fixture.input, asked, { contentType });
      fixture.expect(shownStream(played, price));
      checkChunks(played, REPLY_MODEL);
      checkUsage(played.usage);
      must(played.dones <= 1, "The stream was done twice.");
    });
    runner.it(`translates ${fixture.title} alike, wherever it is cut`, () => {
      const wanted = fingerprint(playStream(provider, fixture.input, asked, { contentType }));
      for (let cut = 1; cut < fixture.input.length; cut += cutStep()) {
        const actual = fingerprint(
          playStream(provider, fixture.input, asked, { contentType, cut }),
        );
        if (actual !== wanted) must(false, `Cut at byte ${cut} it gives something else.`);
      }
      must(
        fingerprint(playStream(provider, fixture.input, asked, { contentType, cut: "each" })) ===
          wanted,
        "Byte by byte it gives something else.",
      );
    });
    runner.it(`says no more than it knows when ${fixture.title} ends early`, () => {
      const whole = playStream(provider, fixture.input, asked, { contentType });
      const texts = whole.frames.map(({ text }) => text);
      for (let events = 0; events < whole.events; events++) {
        const part = playStream(provider, fixture.input, asked, { contentType, events });
        must(part.dones === 0, `The stream was done after ${events} of ${whole.events} events.`);
        must(
          part.error === undefined,
          `It failed after ${events} events, before the event that fails.`,
        );
        must(
          part.frames.every(({ text }, index) => text === texts[index]),
          `After ${events} events it said something else.`,
        );
      }
    });
  }
}

/** Error replies: class, status, another try; a key that the upstream repeats is not repeated. */
export function testErrors(subject: CaseSubject): void {
  for (const fixture of of(subject, "error")) {
    subject.runner.it(`reads ${fixture.title}`, () => {
      const { provider } = subject;
      const { status, headers, body } = readErrorFixture(fixture);
      fixture.expect(shownError(provider.error({ status, headers, body })));
      const telling = body.replaceAll(/:\s*"([^"\\]*)"/g, `:"$1 ${CONTRACT_KEY}"`);
      const error = provider.error({ status, headers, body: telling });
      must(
        !`${error.message} ${error.param ?? ""}`.includes(CONTRACT_KEY),
        "The error repeats the key.",
      );
      const unreadable = provider.error({ status, headers, body: "<html>" });
      must(unreadable.status >= 400, "An unreadable error has no status of an error.");
    });
  }
}

/** `{status, headers, body}`; a body that is no text is written as JSON. */
function readErrorFixture(fixture: Fixture): {
  status: number;
  headers: Record<string, string>;
  body: string;
} {
  const value: unknown = JSON.parse(bodyText(fixture.input));
  must(
    isObject(value) && typeof value.status === "number",
    `${fixture.title} must be {status, headers, body}.`,
  );
  const { status, headers, body } = value;
  return {
    status,
    headers: isObject(headers) ? (headers as Record<string, string>) : {},
    body: typeof body === "string" ? body : JSON.stringify(body ?? ""),
  };
}

function secondBody(provider: Provider, asked: ProviderRequest): string {
  const call = provider.encode(asked);
  return call.kind === "http" ? bodyText(call.body) : "";
}
