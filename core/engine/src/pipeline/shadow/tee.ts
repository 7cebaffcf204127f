/** Two readers of one stream: the client at its own pace, and an observer that never delays it. */

/** A stream for the client, and its copy for an observer. */
export interface Tee<T> {
  readonly items: AsyncIterable<T>;
  readonly spectator: AsyncIterable<T>;
  /** The spectator has gone: nothing is kept for it any more. */
  close(): void;
}

/**
 * Lets a spectator see what a client takes of a stream. It ends with the stream, and rejects when the client leaves, or when it is
 * more than `maxBehind` items behind.
 */
export function tee<T>(source: AsyncIterable<T>, maxBehind: number): Tee<T> {
  const queue: T[] = [];
  let end: { readonly error?: Error } | undefined;
  let wake: () => void = () => undefined;
  let isWatched = true;
  const finish = (error?: Error): void => {
    end ??= error === undefined ? {} : { error };
    wake();
  };
  const show = (item: T): void => {
    if (!isWatched || end !== undefined) return;
    if (queue.length >= maxBehind) return finish(new Error("The step in shadow fell behind the stream."));
    queue.push(item);
    wake();
  };
  const close = (): void => {
    isWatched = false;
    queue.length = 0;
    finish();
  };
  return { items: shownTo(source, show, finish), spectator: look(), close };

  async function* look(): AsyncGenerator<T> {
    try {
      for (;;) {
        const item = queue.shift();
        if (item !== undefined) yield item;
        else if (end === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else if (end.error === undefined) return;
        else throw end.error;
      }
    } finally {
      close();
    }
  }
}

/** An object of its own: a generator that never began would close nothing. */
function shownTo<T>(source: AsyncIterable<T>, show: (item: T) => void, finish: (error?: Error) => void): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = source[Symbol.asyncIterator]();
      return {
        async next() {
          try {
            const step = await iterator.next();
            if (step.done === true) finish();
            else show(step.value);
            return step;
          } catch (error) {
            finish(error instanceof Error ? error : new Error("The stream failed."));
            throw error;
          }
        },
        async return(value?: unknown) {
          finish(new Error("The client left the stream."));
          await iterator.return?.(value);
          return { done: true, value: undefined };
        },
      };
    },
  };
}
