/** A stream with several readers: the frames are kept from the beginning, and each reader has its own pace. */

import { closing } from "@sluice/runtime";
import { unlessAborted } from "@sluice/kit/internals";
import { type Frame, GatewayError } from "@sluice/contract";

/** A reader of a buffer. The stream continues for it until it leaves. */
export interface Listener {
  /** The index of the next frame. */
  at: number;
}

/** Options of a reader. */
export interface ListenOptions {
  /** Whether the reader asked for the usage chunk. */
  readonly wantsUsage: boolean;
  readonly signal: AbortSignal;
  /** Called once, when the reader is done: with the failure, or with nothing. May delay the end. */
  readonly onEnd: (error: unknown) => void | Promise<void>;
}

/** The assumed length of a frame without a text. */
const PARSED_FRAME_CHARACTERS = 256;

/** The buffer of one stream. The reader that is ahead pulls; the others find the pulled frames. */
export class ReplayBuffer {
  readonly #source: AsyncIterator<Frame>;
  readonly #maxCharacters: number;
  readonly #listeners = new Set<Listener>();
  #frames: Frame[] = [];
  /** The index of the first kept frame. */
  #first = 0;
  #characters = 0;
  #isComplete = false;
  #failure: { readonly error: unknown } | undefined;
  #pull: Promise<void> | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(frames: AsyncIterable<Frame>, maxCharacters: number) {
    this.#source = frames[Symbol.asyncIterator]();
    this.#maxCharacters = maxCharacters;
  }

  /** Whether the beginning is still kept, so that a new reader misses nothing. */
  get isOpen(): boolean {
    return this.#first === 0 && this.#failure === undefined;
  }

  /** All frames, after the stream ended without a failure and if none was dropped. */
  get complete(): readonly Frame[] | undefined {
    return this.#isComplete && this.#first === 0 ? this.#frames : undefined;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Resolves when the stream has ended, also after a failure. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  join(): Listener {
    const listener: Listener = { at: 0 };
    this.#listeners.add(listener);
    return listener;
  }

  /** Removes a reader. The last one closes the upstream. Safe to call twice. */
  async leave(listener: Listener): Promise<void> {
    if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
    if (this.#isComplete || this.#failure !== undefined) return;
    this.#failure = { error: new GatewayError("client_closed", "The stream has no reader any more.") };
    try {
      await this.#source.return?.();
    } finally {
      this.#ended.resolve();
    }
  }

  /** The frames for one reader. The caller must iterate it, or call its `return`. */
  read(listener: Listener, options: ListenOptions): AsyncGenerator<Frame, void, undefined> {
    let isOver = false;
    const end = async (error: unknown): Promise<void> => {
      if (isOver) return;
      isOver = true;
      await this.leave(listener);
      await options.onEnd(error);
    };
    return closing(this.#read(listener, options, end), () =>
      end(new GatewayError("client_closed", "The client closed the connection.")),
    );
  }

  async *#read(
    listener: Listener,
    { wantsUsage, signal }: ListenOptions,
    end: (error: unknown) => Promise<void>,
  ): AsyncGenerator<Frame, void, undefined> {
    let failure: unknown;
    try {
      for (;;) {
        while (listener.at < this.#first + this.#frames.length) {
          const frame = this.#frames[listener.at - this.#first];
          if (frame === undefined) throw tooSlow();
          listener.at += 1;
          if (wantsUsage || !isUsageFrame(frame)) yield frame;
        }
        if (this.#failure !== undefined) throw this.#failure.error;
        if (this.#isComplete) return;
        await unlessAborted(this.#more(), signal);
      }
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      await end(failure);
    }
  }

  /** One pull at a time for all readers. Never rejects. */
  #more(): Promise<void> {
    this.#pull ??= this.#advance().finally(() => {
      this.#pull = undefined;
    });
    return this.#pull;
  }

  async #advance(): Promise<void> {
    try {
      const { done, value } = await this.#source.next();
      if (done === true) {
        this.#isComplete = true;
        this.#ended.resolve();
      } else {
        this.#keep(value);
      }
    } catch (error) {
      this.#failure ??= { error };
      this.#ended.resolve();
    }
  }

  #keep(frame: Frame): void {
    this.#frames.push(frame);
    this.#characters += charactersOf(frame);
    if (this.#first > 0 || this.#characters > this.#maxCharacters) this.#drop();
  }

  /**
   * Beyond the bound, frames that all readers have read are dropped first, then the oldest. A
   * slower reader then finds a gap.
   */
  #drop(): void {
    const slowest = Math.min(...[...this.#listeners].map(({ at }) => at));
    let count = 0;
    while (count < this.#frames.length - 1) {
      const frame = this.#frames[count];
      if (frame === undefined || (this.#first + count >= slowest && this.#characters <= this.#maxCharacters)) break;
      this.#characters -= charactersOf(frame);
      count += 1;
    }
    this.#frames.splice(0, count);
    this.#first += count;
  }
}

function charactersOf({ raw }: Frame): number {
  return raw?.length ?? PARSED_FRAME_CHARACTERS;
}

/** Whether a frame carries the usage and nothing else. */
export function isUsageFrame(frame: Frame): boolean {
  const { raw } = frame;
  if (raw !== undefined && (!raw.includes('usage"') || raw.includes('"usage":null'))) return false;
  const { choices, usage } = frame.chunk();
  return Array.isArray(choices) && choices.length === 0 && typeof usage === "object" && usage !== null;
}

function tooSlow(): GatewayError {
  return new GatewayError("overloaded", "The stream was read more slowly than an identical one, by more than the gateway keeps.");
}
