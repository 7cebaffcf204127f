/** A value outside of the components, and the hook that reads it. */

import { useEffect, useState } from "preact/hooks";

/** A value that components follow. */
export interface Cell<Value> {
  readonly value: Value;
  set(value: Value): void;
  /** Calls back after each change. Returns what ends it. */
  follow(run: () => void): () => void;
}

/** Makes a cell. */
export function createCell<Value>(first: Value): Cell<Value> {
  let value = first;
  const followers = new Set<() => void>();
  return {
    get value() {
      return value;
    },
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const run of followers) run();
    },
    follow(run) {
      followers.add(run);
      return () => followers.delete(run);
    },
  };
}

/** The value of a cell; the component renders again when it changes. */
export function useCell<Value>(cell: Cell<Value>): Value {
  const [, render] = useState({});
  const seen = cell.value;
  useEffect(() => {
    const stop = cell.follow(() => render({}));
    // The effect runs after the paint: the value may have changed since the render.
    if (!Object.is(seen, cell.value)) render({});
    return stop;
  }, [cell]);
  return seen;
}
