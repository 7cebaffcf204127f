/**
 * Whether what a client saw comes from one generation: for configurations whose edits show in two
 * places of a reply.
 */

import type { Seen } from "./load.ts";

interface Body {
  readonly choices: readonly {
    readonly message?: { content: string };
    readonly delta?: { content?: string };
  }[];
}

/**
 * Whether a response shows two configurations: in itself, or beside others of its generation. Its
 * text begins with two words, one from the route's model and one from the provider's instance.
 */
export function isMixed(
  { generation, text, isStream }: Seen,
  editOfGeneration: Map<string, string>,
): boolean {
  const [model, organization] = contentOf(text, isStream).split(" ");
  if (
    generation === null ||
    !/^\d+$/.test(generation) ||
    model === undefined ||
    model !== organization
  )
    return true;
  const edit = editOfGeneration.get(generation) ?? model;
  editOfGeneration.set(generation, edit);
  return edit !== model;
}

/** The text of a reply, whole or streamed. */
export function contentOf(text: string, isStream: boolean): string {
  if (!isStream) return (JSON.parse(text) as Body).choices[0]?.message?.content ?? "";
  const events = text.split("\n\n").filter((event) => event.startsWith("data: {"));
  return events
    .map((event) => (JSON.parse(event.slice(6)) as Body).choices[0]?.delta?.content ?? "")
    .join("");
}
