/** The words of explanations: types, formats and values as a person calls them. */

/** The part of a schema that explanations read. */
export interface SchemaView {
  readonly type?: unknown;
  readonly description?: string;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  /** How the value is written, on one line. */
  readonly "x-example"?: string;
  readonly properties?: Readonly<Record<string, SchemaView | undefined>>;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a section with keys",
  null: "nothing",
};

const TYPE_FIXES: Readonly<Record<string, string>> = {
  integer: "write a whole number",
  number: "write a number",
  boolean: "write true or false without quotes",
  array: "write a list: [one, two], or a line `- one` for each",
  object: "write `key: value` pairs below it",
};

const FORMATS: Readonly<Record<string, { readonly name: string; readonly example: string }>> = {
  duration: { name: "a duration", example: "a number and a unit: 250ms, 30s, 10m, 1h, 7d" },
  size: { name: "a size", example: "a number and a unit: 512b, 64kb, 20mb, 1gb" },
  price: {
    name: "an exact price",
    example: "US dollars per million tokens with six decimals at most",
  },
  origin: {
    name: "an origin",
    example: "a scheme, a host and a port that is not the usual one: http://10.0.0.5:9000",
  },
  uri: { name: "a URL", example: "one such as https://api.example.com/v1" },
  email: { name: "an e-mail address", example: "one such as name@example.com" },
};

/** What a schema's type, or one of several, is called. */
export function typeNames(types: unknown): string {
  return listOf(
    (Array.isArray(types) ? types : [types]).map(
      (type) => TYPE_NAMES[String(type)] ?? String(type),
    ),
  );
}

/** What a value is called. `standIn` replaces a value that must not be shown. */
export function typeOf(value: unknown, standIn?: string): string {
  if (standIn !== undefined) return `the text of ${standIn}`;
  if (Array.isArray(value)) return "a list";
  if (value === null) return "nothing";
  if (typeof value === "number" || typeof value === "boolean")
    return `${typeof value === "number" ? "the number " : ""}${value}`;
  return TYPE_NAMES[typeof value] ?? typeof value;
}

/** What to write where a type is wrong. */
export function typeFix(types: unknown, schema: SchemaView, value: unknown): string {
  const type = String(Array.isArray(types) ? types[0] : types);
  if (isQuoted(type, value)) return "write it without quotes";
  if (type !== "string")
    return schema.default === undefined || typeof schema.default === "object"
      ? (TYPE_FIXES[type] ?? "correct it")
      : `${TYPE_FIXES[type]}, such as ${show(schema.default)}`;
  if (schema.format !== undefined && FORMATS[schema.format] !== undefined)
    return `write ${formatExample(schema.format)}`;
  // In quotes it would be refused again.
  if (schema.pattern?.endsWith("%$") === true) return "write a share, such as 80%";
  const isOfForm =
    typeof value !== "object" &&
    (schema.pattern === undefined || new RegExp(schema.pattern, "u").test(String(value)));
  return isOfForm ? "put it in quotes" : `write ${describe(schema)}`;
}

/** Whether a text is a number of the type that is wanted. */
function isQuoted(type: string, value: unknown): boolean {
  if (typeof value !== "string") return false;
  return type === "integer"
    ? /^-?\d{1,15}$/.test(value)
    : type === "number" && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value);
}

/** What a format is called. */
export function formatName(format: unknown): string {
  return FORMATS[String(format)]?.name ?? `of the form "${String(format)}"`;
}

/** What a value of a format looks like. */
export function formatExample(format: unknown): string {
  return FORMATS[String(format)]?.example ?? `text of the form "${String(format)}"`;
}

/** What a schema's description says belongs there. */
export function describe(schema: SchemaView): string {
  return schema.description === undefined
    ? "what belongs there"
    : `what belongs there: ${trimDot(schema.description)}`;
}

/** A sentence without its full stop. */
export function trimDot(text: string): string {
  return text.replace(/\.$/, "");
}

/** Words in a row: `a, b or c`. */
export function listOf(words: readonly string[]): string {
  return words.length < 2
    ? (words[0] ?? "nothing")
    : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** A value as it is quoted: short, never a whole structure. */
export function show(value: unknown): string {
  if (typeof value === "object" && value !== null) return typeOf(value);
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
