/** A guardrail in threads of its own, with the interface of any other guardrail. */

import { createHmac, randomBytes } from "node:crypto";
import type {
  Guardrail,
  Host,
  GuardrailCaller,
  RequestFacts,
  TextContext,
  Verdict,
} from "@sluice/contract";
import type { GuardrailUseSettings } from "../../config/snapshot.ts";
import { GuardrailThreads, type Judged } from "./guardrail-threads.ts";
import { packOptions, type ThreadData } from "./message.ts";

/** The parts of an isolated guardrail. */
export interface IsolatedOptions {
  readonly use: GuardrailUseSettings;
  /** The plugin's module, and the definition's own name in it. */
  readonly url: string;
  readonly definition: string;
  readonly host: Host;
  /** Makes the error that names the guardrail and its place in the configuration. */
  readonly fault: (what: string, fix?: string) => Error;
}

/** Hides secrets in the names of shared values: they are shown to administrators. */
const SALT = randomBytes(32);

/** The gateway's end of the threads. What it is it knows once it has started. */
export class IsolatedGuardrail implements Guardrail {
  reach = Infinity;
  asksAgain = false;
  admit?: (request: RequestFacts, signal: AbortSignal) => Promise<Verdict>;
  readonly #options: IsolatedOptions;
  readonly #threads: GuardrailThreads;

  constructor(options: IsolatedOptions) {
    this.#options = options;
    const { use, url, definition, host } = options;
    const data: ThreadData = {
      url,
      definition,
      options: packOptions(use.options),
      generation: host.generation,
    };
    const { threads, heapBytes } = use.worker;
    // Equal options share their threads from one generation to the next: an edit elsewhere starts
    // no thread.
    const identity = createHmac("sha256", SALT).update(
      JSON.stringify([url, definition, data.options, threads, heapBytes]),
    );
    const key = `guardrail-threads:${use.name}:${identity.digest("hex").slice(0, 16)}`;
    this.#threads = host.shared(
      key,
      () => new GuardrailThreads({ data, threads, heapBytes, log: host.log }),
    );
  }

  /**
   * Waits for a thread that has made the guardrail. Throws the fault of one that does not fit into
   * a worker.
   */
  async start(signal: AbortSignal): Promise<void> {
    const answer = await this.#threads.describe(signal);
    for (const { level, message, fields } of answer.lines)
      this.#options.host.log[level](message, fields);
    if (answer.kind === "unfit")
      throw this.#options.fault(answer.what, "Write `isolation: inline`, or correct the plugin.");
    if (answer.kind !== "made") throw this.#options.fault("gave no answer in a worker");
    this.reach = answer.reach;
    this.asksAgain = answer.asksAgain;
    if (answer.admits)
      this.admit = ({ caller, ...request }, ended) =>
        this.#judge({ kind: "admit", request }, ended, caller);
  }

  check(text: string, signal: AbortSignal, { caller, ...context }: TextContext): Promise<Verdict> {
    return this.#judge({ kind: "check", text, context }, signal, caller);
  }

  #judge(
    judged: Judged,
    signal: AbortSignal,
    caller: GuardrailCaller | undefined,
  ): Promise<Verdict> {
    const { use, host } = this.#options;
    return this.#threads.judge(judged, {
      budgetMs: use.settings.budgetMs,
      signal,
      log: host.log,
      caller,
    });
  }
}
