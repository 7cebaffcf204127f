/** What `create` of a definition returned, as far as its kind needs it. */

/** Functions that an instance of a kind has. */
const FUNCTIONS = {
  step: ["run"],
  provider: ["encode", "decode", "stream", "error"],
  face: ["read", "whole", "stream", "error"],
} as const;

/**
 * An instance that has the functions of its kind. Throws an error without a stack for another one:
 * the stack would name the gateway's files.
 */
export function made<T>(instance: T, kind: keyof typeof FUNCTIONS, name: string): T {
  const missing = missingOf(instance, FUNCTIONS[kind]);
  if (missing === undefined) return instance;
  const fault = new Error(`\`create\` of the ${kind} ${name} returns ${missing}`);
  delete fault.stack;
  throw fault;
}

function missingOf(instance: unknown, functions: readonly string[]): string | undefined {
  if (instance instanceof Promise) return "a promise, and must return the object itself";
  if (typeof instance !== "object" || instance === null) return "no object";
  const members = instance as Readonly<Record<string, unknown>>;
  const absent = functions.filter((name) => typeof members[name] !== "function");
  return absent.length === 0
    ? undefined
    : `an object without ${absent.map((name) => `\`${name}\``).join(", ")}`;
}
