/** Sends requests of the playground, reads their replies, and stops them. */

import { useEffect, useRef, useState } from "preact/hooks";
import { asApiError } from "../../api/api-error.ts";
import { change } from "../../api/client.ts";
import type { Body, Draft } from "./draft.ts";
import { after, documentsIn, isDone, NOTHING, type Said } from "./reply.ts";

/** How a reply ended. `cut`: the stream broke off. */
export type Ending = "runs" | "ended" | "refused" | "stopped" | "cut";

/** One request with its reply. */
export interface Play {
  readonly number: number;
  readonly operation: Draft["operation"];
  readonly as: string;
  readonly route: string;
  readonly body: Body;
  readonly ending: Ending;
  readonly said: Said;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  /** Milliseconds from the click to the first text, and to the end. */
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
}

/** What is sent. */
export type Sent = Pick<Play, "operation" | "as" | "route" | "body">;

/** A reasoning model may think for minutes. */
const DEADLINE_MS = 600_000;
/** An event of a stream is at most this long. */
const MAX_EVENT = 4_000_000;

let numbers = 0;

/** The request of one column. */
export function usePlay(): {
  readonly play: Play | undefined;
  readonly send: (sent: Sent) => void;
  readonly stop: () => void;
  readonly clear: () => void;
} {
  const [play, setPlay] = useState<Play>();
  const running = useRef<AbortController | undefined>(undefined);
  const stop = (): void => running.current?.abort();
  useEffect(() => stop, []);
  const send = (sent: Sent): void => {
    stop();
    const controller = new AbortController();
    running.current = controller;
    const update = (next: (play: Play) => Partial<Play>): void => {
      if (running.current !== controller) return;
      setPlay((before) => before && { ...before, ...next(before) });
    };
    setPlay({
      ...sent,
      number: ++numbers,
      ending: "runs",
      said: NOTHING,
      status: undefined,
      requestId: undefined,
      firstMs: undefined,
      totalMs: undefined,
    });
    void run(sent, controller.signal, update);
  };
  return { play, send, stop, clear: () => setPlay(undefined) };
}

type Update = (next: (play: Play) => Partial<Play>) => void;

async function run(sent: Sent, signal: AbortSignal, update: Update): Promise<void> {
  const { operation, as, route, body } = sent;
  const began = performance.now();
  const sinceMs = (): number => performance.now() - began;
  const end = (ending: Ending, failure?: string): void =>
    update(({ said }) => ({
      ending,
      totalMs: sinceMs(),
      ...(failure !== undefined && { said: { ...said, failure } }),
    }));
  try {
    const asked = { as, body, ...(route !== "" && { route }) };
    const response = await change("POST", `/playground/${operation}`, asked, {
      signal,
      deadlineMs: DEADLINE_MS,
      takesAny: "x-sluice-played",
    });
    const requestId = response.headers.get("x-request-id") ?? undefined;
    update(() => ({ status: response.status, requestId }));
    const say = (documents: readonly unknown[]): void =>
      update(({ said, firstMs }) => {
        const next = documents.reduce<Said>(after, said);
        return { said: next, firstMs: firstMs ?? (next === said ? undefined : sinceMs()) };
      });
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      say([await response.json()]);
      end(response.ok ? "ended" : "refused");
    } else {
      const isEnded = await readEvents(response, say);
      end(isEnded ? "ended" : signal.aborted ? "stopped" : "cut");
    }
  } catch (error) {
    if (signal.aborted) end("stopped");
    else end("cut", asApiError(error).message);
  }
}

/** Reads a stream. Returns whether it came to its end. */
async function readEvents(
  response: Response,
  say: (documents: readonly unknown[]) => void,
): Promise<boolean> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let isEnded = false;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- pieces come one after the other.
    const read = await reader?.read().catch(() => undefined);
    if (read === undefined || read.done) return isEnded;
    const text = rest + read.value;
    isEnded ||= isDone(text);
    const found = documentsIn(text);
    rest = found.rest.slice(0, MAX_EVENT);
    if (found.documents.length > 0) say(found.documents);
    if (found.documents.some((one) => (one as { error?: unknown }).error !== undefined))
      isEnded = false;
  }
}
