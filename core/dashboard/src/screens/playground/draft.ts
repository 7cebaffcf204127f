/** What is typed into the playground, and the request that it stands for. */

/** One message of a chat. */
export interface DraftMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** The fields of the form. */
export interface Draft {
  readonly operation: "chat" | "embeddings" | "images";
  /** The id of a key, or `master`. */
  readonly as: string;
  readonly model: string;
  /** A second model gets the same request. Empty: none. */
  readonly second: string;
  /** `METHOD /path`; empty: the first one of the operation. */
  readonly route: string;
  readonly system: string;
  readonly messages: readonly DraftMessage[];
  /** The text of an embedding, or the prompt of an image. */
  readonly input: string;
  readonly temperature: string;
  readonly maxTokens: string;
  /** A JSON array, or nothing. */
  readonly tools: string;
  /** A JSON object with further members, or nothing. */
  readonly more: string;
  readonly isStream: boolean;
}

/** The form when it is opened. */
export const FIRST_DRAFT: Draft = {
  operation: "chat",
  as: "",
  model: "",
  second: "",
  route: "",
  system: "",
  messages: [{ role: "user", content: "" }],
  input: "",
  temperature: "",
  maxTokens: "",
  tools: "",
  more: "",
  isStream: true,
};

/** A body of a request. */
export type Body = Readonly<Record<string, unknown>>;

/** Faults of the form by field. */
export type Faults = Readonly<Partial<Record<keyof Draft, string>>>;

/** What is wrong with the form; no member: nothing. */
export function faultsOf(draft: Draft): Faults {
  const faults: Partial<Record<keyof Draft, string>> = {};
  const { operation, as, model, messages, input, temperature, maxTokens, tools, more } = draft;
  if (as.trim() === "") faults.as = "Choose a key, or master.";
  if (model.trim() === "") faults.model = "Name a model.";
  if (operation === "chat") {
    if (messages.every(({ content }) => content.trim() === ""))
      faults.messages = "Write a message.";
    if (temperature !== "" && !Number.isFinite(Number(temperature)))
      faults.temperature = "A number, such as 0.2.";
    if (maxTokens !== "" && !/^\d{1,9}$/.test(maxTokens)) faults.maxTokens = "A whole number.";
    if (tools.trim() !== "" && !Array.isArray(parsed(tools)))
      faults.tools = "A JSON array of tools.";
  } else if (input.trim() === "") faults.input = "Write a text.";
  if (more.trim() !== "" && !isObject(parsed(more))) faults.more = "A JSON object.";
  return faults;
}

/** The request that the form stands for. The form has no fault. */
export function bodyOf(draft: Draft, model: string): Body {
  const more = parsed(draft.more);
  const others = isObject(more) ? more : {};
  if (draft.operation === "embeddings") return { model, input: draft.input, ...others };
  if (draft.operation === "images") return { model, prompt: draft.input, ...others };
  const { system, temperature, maxTokens, isStream } = draft;
  const tools = parsed(draft.tools);
  const messages = draft.messages.filter(({ content }) => content.trim() !== "");
  return {
    model,
    messages: [...(system.trim() === "" ? [] : [{ role: "system", content: system }]), ...messages],
    ...(temperature !== "" && { temperature: Number(temperature) }),
    ...(maxTokens !== "" && { max_tokens: Number(maxTokens) }),
    ...(Array.isArray(tools) && { tools }),
    ...(isStream && { stream: true }),
    ...others,
  };
}

function parsed(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Body {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
