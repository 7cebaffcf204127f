/** The reply to a request of the playground, read as it comes. */

/** A call of a tool that a model asks for. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: string;
}

/** What a reply said. */
export interface Said {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string | undefined;
  /** The failure that the reply, or an event of its stream, holds. */
  readonly failure: string | undefined;
}

/** Nothing was said yet. */
export const NOTHING: Said = { text: "", toolCalls: [], finish: undefined, failure: undefined };

/** Characters of a reply that are shown. */
const MAX_SHOWN = 200_000;

interface Delta {
  readonly content?: string | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}

interface Document {
  readonly choices?: readonly {
    readonly index?: number;
    readonly delta?: Delta;
    readonly message?: Delta;
    readonly finish_reason?: string | null;
  }[];
  readonly error?: { readonly message?: string };
  readonly data?: readonly unknown[];
}

/** What was said after a document, which is a whole reply or an event of a stream. */
export function after(said: Said, document: unknown): Said {
  const { choices, error, data } = (document ?? {}) as Document;
  if (error !== undefined) return { ...said, failure: error.message ?? "The reply has failed." };
  if (choices === undefined) return data === undefined ? said : withText(said, dataText(data));
  // Of several choices the first one is shown.
  const choice = choices.find(({ index = 0 }) => index === 0);
  const delta = choice?.delta ?? choice?.message;
  const next = withText(said, delta?.content ?? "");
  return {
    ...next,
    toolCalls: withCalls(said.toolCalls, delta?.tool_calls ?? []),
    finish: choice?.finish_reason ?? said.finish,
  };
}

function withText(said: Said, more: string): Said {
  if (more === "" || said.text.length >= MAX_SHOWN) return said;
  return { ...said, text: (said.text + more).slice(0, MAX_SHOWN) };
}

const MAX_CALLS = 100;

function withCalls(
  calls: readonly ToolCall[],
  deltas: NonNullable<Delta["tool_calls"]>,
): readonly ToolCall[] {
  if (deltas.length === 0) return calls;
  const next = [...calls];
  deltas.forEach(({ index, function: part }, place) => {
    const at = index ?? place;
    if (at < 0 || at >= MAX_CALLS) return;
    const before = next[at] ?? { name: "", arguments: "" };
    next[at] = {
      name: before.name + (part?.name ?? ""),
      arguments: (before.arguments + (part?.arguments ?? "")).slice(0, MAX_SHOWN),
    };
  });
  return next.filter((call) => call !== undefined);
}

/** Embeddings and images as text: their numbers, or what they are. */
function dataText(data: readonly unknown[]): string {
  const shown = data.map((one) => {
    const {
      embedding,
      url,
      b64_json: bytes,
    } = one as {
      readonly embedding?: readonly number[] | string;
      readonly url?: string;
      readonly b64_json?: string;
    };
    if (Array.isArray(embedding))
      return `${embedding.length} numbers: ${embedding.slice(0, 8).join(", ")}, …`;
    if (typeof url === "string") return url;
    if (typeof bytes === "string") return `an image of ${Math.round((bytes.length * 3) / 4)} bytes`;
    return JSON.stringify(one);
  });
  return shown.join("\n");
}

/** The documents of events, each with what was left of the text behind the last one. */
export function documentsIn(text: string): {
  readonly documents: readonly unknown[];
  readonly rest: string;
} {
  const events = text.split(/\r?\n\r?\n/);
  const rest = events.pop() ?? "";
  const documents = events.flatMap((event) => {
    const data = event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n");
    if (data === "" || data === "[DONE]") return [];
    try {
      return [JSON.parse(data) as unknown];
    } catch {
      return [{ error: { message: "An event of the stream is not JSON." } }];
    }
  });
  return { documents, rest };
}

/** Whether a text of events has the one that ends a stream. */
export function isDone(text: string): boolean {
  return /(?:^|\n)data: ?\[DONE\]/.test(text);
}
