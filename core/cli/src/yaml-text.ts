/** YAML as people write it: short things on one line, in braces. */

/** A value in flow style: `{ provider: openai, model: "*" }`. */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return members.length === 0
      ? "{}"
      : `{ ${members.map(([key, member]) => `${scalar(key)}: ${flow(member)}`).join(", ")} }`;
  }
  return typeof value === "string" ? scalar(value) : String(value);
}

/**
 * A text, in quotes where YAML would take it for something else. JSON's quotes are YAML's double
 * ones.
 */
export function scalar(text: string): string {
  const isPlain =
    /^[A-Za-z][A-Za-z0-9_./-]*$/.test(text) || /^\d+(\.\d+)?(ms|s|m|h|d|kb|mb)$/.test(text);
  return isPlain && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
