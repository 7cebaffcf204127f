/** Patterns of models: a target's model, with a `*` in place of the rest of the requested id. */

/** Whether a target's model matches this model of the upstream. */
export function isModelOf(pattern: string, model: string): boolean {
  const [before = "", ...rest] = pattern.split("*");
  const after = rest.at(-1);
  if (after === undefined) return pattern === model;
  return (
    model.length >= before.length + after.length &&
    model.startsWith(before) &&
    model.endsWith(after)
  );
}
