/** Generators that release their source, also when they never began. */

/**
 * The generator, with a `return` that calls `giveUp` first. A generator that never began runs no
 * `finally`, so its source would stay open. `giveUp` may be called more than once.
 */
export function closing<T>(
  generator: AsyncGenerator<T, void, undefined>,
  giveUp: () => unknown,
): AsyncGenerator<T, void, undefined> {
  const close = generator.return.bind(generator);
  generator.return = async (value) => {
    await giveUp();
    return close(value);
  };
  return generator;
}
