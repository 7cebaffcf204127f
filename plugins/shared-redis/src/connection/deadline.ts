/** The deadline of one command. */

/** The bound of a wait, however busy the server is; the timeout of the command if longer. */
export const MAX_QUEUE_MS = 1_000;

/** What the deadline of a command asks and reports. */
export interface DeadlineHooks {
  /** When any command was last answered. */
  repliedMs(): number;
  /** Called once the deadline has passed, with the milliseconds since the command was sent. */
  onLate(waitedMs: number): void;
}

/**
 * The deadline of one command. A server that answers other commands extends it, up to
 * `MAX_QUEUE_MS`.
 */
export class CommandDeadline {
  readonly #timeoutMs: number;
  readonly #hooks: DeadlineHooks;
  readonly #sentMs = performance.now();
  #dueMs: number;
  #timer: NodeJS.Timeout;
  #isPending = true;

  constructor(timeoutMs: number, hooks: DeadlineHooks) {
    this.#timeoutMs = timeoutMs;
    this.#hooks = hooks;
    this.#dueMs = this.#sentMs + timeoutMs;
    this.#timer = setTimeout(this.#expire, timeoutMs);
  }

  /** Ends the wait. */
  end(): void {
    this.#isPending = false;
    clearTimeout(this.#timer);
  }

  /** Due timers run before sockets are read: a reply that has arrived is read first. */
  readonly #expire = (): void => void setImmediate(() => this.#check());

  #check(): void {
    if (!this.#isPending) return;
    const nowMs = performance.now();
    const timeoutMs = this.#timeoutMs;
    // A stalled process has read no replies: the time begins anew.
    const isStalled = nowMs - this.#dueMs > timeoutMs / 4;
    const heardMs = isStalled ? nowMs : Math.max(this.#sentMs, this.#hooks.repliedMs());
    if (nowMs - heardMs >= timeoutMs || nowMs - this.#sentMs >= Math.max(timeoutMs, MAX_QUEUE_MS)) {
      this.#hooks.onLate(nowMs - this.#sentMs);
      return;
    }
    this.#dueMs = heardMs + timeoutMs;
    this.#timer = setTimeout(this.#expire, this.#dueMs - nowMs);
  }
}
