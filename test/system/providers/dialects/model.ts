/**
 * A model behind every simulated dialect: what it was asked, in no dialect's words, and what it
 * says to that.
 */

import { isObject } from "@sluice/kit";
import type { JsonObject, JsonValue } from "@sluice/contract";

/** A call of a tool. Dialects without ids have none. */
export interface Call {
  readonly id: string | undefined;
  readonly name: string;
  readonly input: JsonObject;
}

/** What the application says that a tool gave. */
export interface Result {
  readonly id: string | undefined;
  readonly text: string;
}

/** One side's turn, however many messages it takes in a dialect. */
export interface Turn {
  readonly role: "user" | "assistant";
  readonly texts: string[];
  /** Bytes of the images. */
  readonly images: Buffer[];
  readonly calls: Call[];
  readonly results: Result[];
}

/** A request as a dialect's simulator read it. */
export interface Asked {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly { readonly name: string; readonly schema: JsonObject }[];
  readonly schema: JsonObject | undefined;
  readonly maxTokens: number | undefined;
  readonly stream: boolean;
}

/** What the model says, for a simulator to write in its dialect. Calls have no ids yet. */
export interface Said {
  readonly text: string;
  readonly calls: readonly Omit<Call, "id">[];
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter";
}

/** Tokens of every answer. `prompt` includes `cached`. */
export const TOKENS = { prompt: 30, cached: 10, completion: 7 } as const;

/**
 * What the model wants to know, when it has tools: two calls of one tool, and one of another
 * without arguments.
 */
export const CALLS: readonly Omit<Call, "id">[] = [
  { name: "get_weather", input: { city: "Köln" } },
  { name: "get_weather", input: { city: "Basel" } },
  { name: "get_time", input: {} },
];

/** What the model answers where a schema is asked for. */
export const DATA = { city: "Köln", degrees: 21 } as const;

/** A request that says something else than the application said. */
export class Misread extends Error {}

/** The model's answer. Throws {@link Misread} where the request lacks what the application sent. */
export function answerOf(asked: Asked): Said {
  const last = asked.turns.at(-1);
  if (last?.role !== "user") throw new Misread("The last turn is not the user's.");
  if (last.results.length > 0) return { text: resultsSaid(asked, last), calls: [], finish: "stop" };
  if (asked.maxTokens !== undefined && asked.maxTokens < 8)
    return { text: "One, two", calls: [], finish: "length" };
  if (asked.schema !== undefined)
    return { text: dataSaid(asked.schema), calls: [], finish: "stop" };
  if (asked.tools.length > 0) return { text: "", calls: toolsUsed(asked), finish: "tool_calls" };
  if (last.images.length > 0) {
    return {
      text: last.images.map((image) => `Seen: ${image.toString("hex")}.`).join(" "),
      calls: [],
      finish: "stop",
    };
  }
  if (last.texts.includes("Something forbidden."))
    return { text: "I", calls: [], finish: "content_filter" };
  return { text: `System “${asked.system}”. Grüße 😀`, calls: [], finish: "stop" };
}

/** Each result under the call that it answers, in the order of the calls. */
function resultsSaid({ turns }: Asked, { results }: Turn): string {
  const { calls } = turns.at(-2) ?? { calls: [] };
  if (calls.length !== CALLS.length || results.length !== calls.length) {
    throw new Misread(`${calls.length} calls and ${results.length} results came.`);
  }
  return calls
    .map(({ id, name, input }, index) => {
      const result = id === undefined ? results[index] : results.find((each) => each.id === id);
      if (result === undefined) throw new Misread(`No result came for the call ${id ?? index}.`);
      return `${name}(${JSON.stringify(input)}): ${result.text}`;
    })
    .join("\n");
}

function toolsUsed({ tools }: Asked): Said["calls"] {
  const [weather, time] = tools;
  if (weather?.name !== "get_weather" || time?.name !== "get_time")
    throw new Misread("The tools are not get_weather and get_time.");
  const city = member(weather.schema, "properties", "city");
  if (!isObject(city) || city.type !== "string")
    throw new Misread("The schema of get_weather has no city.");
  return CALLS;
}

function dataSaid(schema: JsonObject): string {
  const isWhole = Object.keys(DATA).every((name) => isObject(member(schema, "properties", name)));
  if (!isWhole) throw new Misread("The schema of the answer is not whole.");
  return JSON.stringify(DATA);
}

/** A member deep within an object. */
export function member(
  value: JsonValue | undefined,
  ...path: readonly string[]
): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (at, name) => (isObject(at) ? at[name] : undefined),
    value,
  );
}
