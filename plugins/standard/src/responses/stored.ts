/** The step `stored-responses`: reads, ends and deletes stored responses. It calls no upstream. */

import { defineStep, jsonReply, within } from "@sluice/kit";
import { KEEPING, replyHold } from "@sluice/runtime";
import {
  GatewayError,
  type BytesReply,
  type ClientRequest,
  type Exchange,
  type FaceDetached,
  type FaceKeeping,
  type JsonObject,
} from "@sluice/contract";
import { deleteChunks } from "./detached/chunks.ts";
import type { KeptRun } from "./detached/detached-run.ts";
import { readEvents } from "./detached/read-events.ts";
import type { Runs } from "./detached/runs.ts";
import { waitFor } from "../retry/wait.ts";
import { openRuns } from "./index.ts";
import { ResponseStore } from "./store.ts";

const MAX_CHARACTERS = 64;
/** How long a request waits for the end of a response that it ends. */
const END_MS = 10_000;
/** The interval at which the end of a response of another process is looked up. */
const LOOK_MS = 100;

export const storedResponses = defineStep<Record<string, never>>({
  name: "stored-responses",
  stability: "experimental",
  summary:
    "Answers requests for stored responses: read, end, delete, list their input items, read their events. Ends the pipeline.",
  config: { type: "object", properties: {} },
  operations: ["responses"],
  traits: { terminal: true, sharesState: true },
  order: {
    requires: [{ capability: "identity", reason: "a stored response belongs to a key" }],
  },
  create(_config, host) {
    const store = new ResponseStore(host);
    const runs = openRuns(host);
    return {
      async run({ exchange }) {
        const { client, identity } = exchange;
        const keeping = KEEPING.get(exchange);
        const id = keeping?.idOf(client);
        if (keeping === undefined || id === undefined || identity === undefined)
          throw notFound(client);
        const { keyId } = identity;
        const stored = new StoredReply({ store, runs }, exchange, keeping, keyId, id);
        await stored.answer();
      },
    };
  },
});

interface StoredParts {
  readonly store: ResponseStore;
  readonly runs: Runs<KeptRun>;
}

/** A stored response that a request names. */
class StoredReply {
  readonly #parts: StoredParts;
  readonly #exchange: Exchange;
  readonly #keeping: FaceKeeping;
  readonly #keyId: string;
  readonly #id: string;

  constructor(
    parts: StoredParts,
    exchange: Exchange,
    keeping: FaceKeeping,
    keyId: string,
    id: string,
  ) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#keeping = keeping;
    this.#keyId = keyId;
    this.#id = id;
  }

  async answer(): Promise<void> {
    const { client } = this.#exchange;
    const { detached } = this.#keeping;
    let entry = await this.#entry();
    let answer = this.#keeping.answer(client, entry);
    const { ends = false, deletes = false } = answer;
    if (detached?.isRunning(entry) === true && (ends || deletes)) {
      entry = await this.#end(detached);
      answer = this.#keeping.answer(client, entry);
    }
    if (deletes) await this.#delete();
    const { document, eventsAfter } = answer;
    this.#exchange.reply =
      eventsAfter === undefined || detached === undefined
        ? jsonReply(document)
        : this.#events(detached, eventsAfter);
  }

  /** The entry. That of a response whose process ended without its end says so. */
  async #entry(): Promise<JsonObject> {
    const { detached } = this.#keeping;
    const entry = await this.#find();
    if (detached?.isRunning(entry) !== true) return entry;
    if (await this.#parts.runs.isRunning(this.#keyId, this.#id)) return entry;
    // It may have ended since it was found.
    const last = await this.#find();
    return detached.isRunning(last) ? detached.ended(last, LOST) : last;
  }

  async #find(): Promise<JsonObject> {
    const hold = replyHold(this.#exchange);
    const entry = await this.#parts.store.find(this.#keyId, this.#id, hold);
    if (entry === undefined) throw notFound(this.#exchange.client);
    return entry;
  }

  /** Ends a response under way. Resolves with its last entry. */
  async #end(detached: FaceDetached): Promise<JsonObject> {
    const { runs } = this.#parts;
    const run = runs.find(this.#keyId, this.#id);
    await runs.order(this.#keyId, this.#id);
    const isEnded = await within(
      END_MS,
      run?.ended.then(() => true) ?? this.#endElsewhere(),
      () => false,
    );
    const entry = await this.#entry();
    if (isEnded && !detached.isRunning(entry)) return entry;
    throw new GatewayError(
      "overloaded",
      "The gateway that makes this response has not ended it yet. Retry.",
      { retryAfterMs: 1_000 },
    );
  }

  /** Resolves when the process that makes the response has ended it, or this one gives up. */
  async #endElsewhere(): Promise<boolean> {
    const { runs } = this.#parts;
    for (let ms = 0; ms < END_MS; ms += LOOK_MS) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other.
      if (!(await runs.isRunning(this.#keyId, this.#id))) return true;
      // oxlint-disable-next-line no-await-in-loop -- as above.
      await waitFor(LOOK_MS, this.#exchange.signal);
    }
    return false;
  }

  async #delete(): Promise<void> {
    const { store } = this.#parts;
    await store.delete(this.#keyId, this.#id);
    await deleteChunks(store, this.#keyId, this.#id);
  }

  #events(face: FaceDetached, after: number): BytesReply {
    const { store, runs } = this.#parts;
    const [keyId, responseId] = [this.#keyId, this.#id];
    const { signal } = this.#exchange;
    const log = runs.find(keyId, responseId)?.log;
    const isRunning = (): Promise<boolean> => runs.isRunning(keyId, responseId);
    return {
      kind: "bytes",
      status: 200,
      headers: EVENT_HEADERS,
      body: readEvents({ store, keyId, responseId, log, face, isRunning, signal }, after),
    };
  }
}

const EVENT_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

const LOST = new GatewayError(
  "internal_error",
  "The gateway that made this response stopped before its end.",
);

/** One answer for what never was, what is over, and what belongs to another key. */
function notFound({ parameters: { response_id: id = "" } }: ClientRequest): GatewayError {
  return new GatewayError(
    "not_found",
    `Response with id '${id.slice(0, MAX_CHARACTERS)}' not found.`,
    { param: "response_id" },
  );
}
