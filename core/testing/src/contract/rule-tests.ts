/** Rules that hold for every provider, whatever its fixtures are. */

import { Buffer } from "node:buffer";
import type {
  GatewayError,
  JsonObject,
  JsonValue,
  Provider,
  ProviderRequest,
} from "@sluice/contract";
import type { ContractOptions, ContractRunner } from "./options.ts";
import { must } from "./fault.ts";
import {
  BLOCKS,
  ODD_BODIES,
  ODD_MESSAGES,
  PARAMETER_VALUES,
  TOOL_CHOICES,
  WEATHER_TOOL,
} from "./odd-requests.ts";
import { attempted, bodyText } from "./outcome.ts";
import { testLocalWork } from "./local-work.ts";
import { HARD_SCHEMAS, SCHEMAS } from "./schemas.ts";
import { withBody } from "./subject.ts";

const MARK = "x-contract-mark-81c2";

/** Rules of chat requests. */
export function testRequestRules(
  { it }: ContractRunner,
  provider: Provider,
  request: ProviderRequest,
  options: ContractOptions,
): void {
  const plain = request.document.value;
  // A local provider answers by itself: nothing is translated.
  const isLocal = provider.encode(request).kind === "local";

  /** The body that a request becomes, or its refusal; every other outcome is a fault. */
  const encoded = (
    extra: JsonObject,
  ): { readonly text: string } | { readonly error: GatewayError } => {
    const made = attempted(() => provider.encode(withBody(request, { ...plain, ...extra })));
    if ("error" in made) {
      must(
        made.error.status === 400,
        `A request is refused with ${made.error.status} ${made.error.code}, not with 400.`,
      );
      must(made.error.param !== undefined, "A refusal does not name the place.");
      if (made.error.code === "unsupported_parameter") checkRefusal(made.error, request);
      return made;
    }
    if (made.value.kind === "local") return { text: "" };
    const text = bodyText(made.value.body);
    options.checkBody?.(JSON.parse(text) as JsonObject);
    return { text };
  };

  if (isLocal) testLocalWork({ it }, provider, request);

  it("encodes or refuses what is empty or odd", () => {
    for (const messages of Object.values(ODD_MESSAGES)) encoded({ messages });
    for (const messages of Object.values(ODD_MESSAGES))
      encoded({ messages, tools: [WEATHER_TOOL] });
  });

  it("drops no block in silence", () => {
    for (const [name, block] of Object.entries(BLOCKS)) {
      const made = encoded({
        messages: [{ role: "user", content: [{ type: "text", text: "Look." }, block] }],
      });
      if (isLocal || "error" in made) continue;
      const alone = encoded({
        messages: [{ role: "user", content: [{ type: "text", text: "Look." }] }],
      });
      must(
        "text" in alone && made.text.length > alone.text.length,
        `The block ${name} is dropped.`,
      );
    }
  });

  it("drops no parameter in silence", () => {
    const without = encoded({});
    must("text" in without, "A plain request is refused.");
    for (const [name, value] of Object.entries(PARAMETER_VALUES)) {
      const made = encoded({ [name]: value });
      if (isLocal || "error" in made) continue;
      must(made.text !== without.text, `The parameter ${name} is dropped.`);
    }
  });

  it("keeps or refuses fields that it does not know", () => {
    const message = { role: "user", content: [{ type: "text", text: "Hi.", x_unknown: MARK }] };
    const tool = {
      ...WEATHER_TOOL,
      function: { ...(WEATHER_TOOL.function as JsonObject), x_unknown: MARK },
    };
    const places: readonly JsonObject[] = [
      { x_unknown: MARK },
      { messages: [message] },
      { tools: [tool] },
    ];
    for (const extra of places) {
      const made = encoded(extra);
      if (isLocal || "error" in made) continue;
      must(
        made.text.includes(MARK),
        `An unknown field is dropped: ${JSON.stringify(extra).slice(0, 80)}.`,
      );
    }
  });

  it("takes the names that every object has for words like any other", () => {
    for (const word of ["constructor", "toString", "hasOwnProperty", "__proto__"]) {
      for (const [what, extra] of Object.entries(wordPlaces(word))) {
        const made = encoded(extra);
        if (isLocal || "error" in made) continue;
        must(made.text.includes(word), `${word} as ${what} is dropped.`);
      }
    }
  });

  if (!provider.capabilities.tools) return;

  it("says what a request says of the use of its tools", () => {
    const plainTools = encoded({ tools: [WEATHER_TOOL, second()] });
    must("text" in plainTools, "A request with two tools is refused.");
    const texts = new Map<string, string>();
    for (const [name, extra] of Object.entries(TOOL_CHOICES)) {
      const made = encoded({ tools: [WEATHER_TOOL, second()], ...extra });
      if ("error" in made || name === "tool_choice auto") continue;
      must(made.text !== plainTools.text, `${name} is lost.`);
      const same = [...texts].find(([, text]) => text === made.text);
      must(same === undefined, `${name} is sent like ${same?.[0] ?? ""}.`);
      texts.set(name, made.text);
    }
  });

  it(`takes or refuses ${SCHEMAS.size + Object.keys(HARD_SCHEMAS).length} schemas of tools and of structured output`, () => {
    for (const [name, schema] of [...SCHEMAS, ...Object.entries(HARD_SCHEMAS)]) {
      checkPlace(encoded({ tools: [toolWith(schema)] }), "tools[0]", name);
      checkPlace(encoded({ response_format: formatWith(schema) }), "response_format", name);
    }
  });

  it("takes tools without arguments, and names that no charset has", () => {
    for (const parameters of [
      undefined,
      null,
      {},
      { type: "object" },
      { type: "object", properties: {} },
    ]) {
      const made = encoded({ tools: [toolWith(parameters)] });
      must("text" in made, `A tool whose parameters are ${JSON.stringify(parameters)} is refused.`);
    }
    for (const name of ["a.b", "a b", "größe", "x".repeat(64)])
      encoded({ tools: [{ type: "function", function: { name } }] });
  });
}

/** Places of a request where a client chooses a word that providers look up. */
function wordPlaces(word: string): Readonly<Record<string, JsonObject>> {
  const message = { role: "user", content: [{ type: "text", text: "Look." }] };
  return {
    "an effort": { reasoning_effort: word },
    "a format": { response_format: { type: word } },
    "a block": {
      messages: [{ ...message, content: [...message.content, { type: word, data: "x" }] }],
    },
    "a tool": { tools: [{ type: word }] },
    "a choice of tools": { tools: [WEATHER_TOOL], tool_choice: word },
    "a service tier": { service_tier: word },
    "a verbosity": { verbosity: word },
    "a member": JSON.parse(
      `{"${word === "__proto__" ? "x_proto" : word}":"${word}"}`,
    ) as JsonObject,
  };
}

function second(): JsonObject {
  return {
    type: "function",
    function: { name: "get_time", parameters: { type: "object", properties: {} } },
  };
}

function toolWith(parameters: JsonValue | undefined): JsonObject {
  return {
    type: "function",
    function: { name: "probe", ...(parameters === undefined ? {} : { parameters }) },
  };
}

function formatWith(schema: JsonObject): JsonObject {
  return { type: "json_schema", json_schema: { name: "probe", schema } };
}

function checkPlace(
  made: { readonly text: string } | { readonly error: GatewayError },
  place: string,
  name: string,
): void {
  if ("text" in made) return;
  must(
    made.error.param?.startsWith(place) === true,
    `The schema "${name}" is refused at ${made.error.param ?? "no place"}, not within ${place}.`,
  );
}

/** A refusal of a dialect names who refuses. */
function checkRefusal(error: GatewayError, { target }: ProviderRequest): void {
  const isTold = error.message.includes(target.provider) && error.message.includes(target.model);
  must(isTold, `A refusal names neither provider nor model: ${error.message}`);
}

/** Rules of replies: what is none is an error of the gateway's, never another exception. */
export function testOddReplies(
  { it }: ContractRunner,
  provider: Provider,
  request: ProviderRequest,
): void {
  it("reads nothing out of a body that is no reply", () => {
    for (const [name, body] of Object.entries(ODD_BODIES)) {
      const made = attempted(() => provider.decode(Buffer.from(body), request));
      must("error" in made, `A body that is ${name} is taken for a reply.`);
      must(made.error.status >= 400, "The error of an odd body has no status of an error.");
    }
  });

  it("reads errors of every status, whatever their body is", () => {
    for (const status of [
      400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 429, 500, 502, 503, 504, 529, 302,
    ]) {
      for (const body of [
        ...Object.values(ODD_BODIES),
        '{"error":"text"}',
        '{"error":{}}',
        '{"message":42}',
        '{"error":{"message":null}}',
      ]) {
        const error = provider.error({ status, headers: {}, body });
        must(
          error.status >= 400 && error.message !== "",
          `An error of status ${status} has no status or message.`,
        );
      }
    }
  });

  it("makes of 429 a limit that is worth another try, and of 401 a credential that is not", () => {
    const limited = provider.error({ status: 429, headers: { "retry-after": "7" }, body: "" });
    must(
      limited.code === "upstream_rate_limited" &&
        limited.retryable &&
        limited.retryAfterMs === 7_000,
      "429 is no rate limit with a wait.",
    );
    const refused = provider.error({ status: 401, headers: {}, body: "" });
    must(
      refused.code === "upstream_auth_failed" && !refused.retryable,
      "401 is no refused credential.",
    );
  });
}
