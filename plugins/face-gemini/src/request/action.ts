/** The model and the action of a request: both stand in its path. */

import { type ClientRequest, GatewayError } from "@sluice/contract";
import { invalidField } from "@sluice/kit/dialect";

const ACTIONS = ["generateContent", "streamGenerateContent", "countTokens"] as const;
export type Action = (typeof ACTIONS)[number];

/** The query of every stream of an SDK: it needs no reading. */
const STREAM_QUERY = "alt=sse";

/** What the path says. */
export interface Asked {
  readonly model: string;
  readonly action: Action;
}

/**
 * Reads the path: `/v1beta/models/gemini-2.5-flash:generateContent`. Names of models may hold
 * slashes and colons: the action follows the last colon. A route's pattern may end with the action,
 * so that the parameter is the model alone. Throws `route_not_found` for another action, and
 * `invalid_field` for a query that cannot be served.
 */
export function readAction({ parameters, path, query }: ClientRequest): Asked {
  const name = decoded(path.slice(path.lastIndexOf(":") + 1));
  const action = ACTIONS.find((each) => each === name);
  if (action === undefined)
    throw new GatewayError(
      "route_not_found",
      `The path names no action of this gateway: a model has :${ACTIONS.join(", :")}.`,
    );
  const rest = decoded(parameters.model ?? path.slice(path.lastIndexOf("/models/") + 8));
  const end = `:${action}`;
  const model = (rest.endsWith(end) ? rest.slice(0, -end.length) : rest).replace(/^models\//, "");
  if (model === "") throw invalidField("model", "the name of a model before the colon");
  if (query !== STREAM_QUERY || action !== "streamGenerateContent")
    checkQuery(new URLSearchParams(query), action);
  return { model, action };
}

function checkQuery(query: URLSearchParams, action: Action): void {
  if (query.has("key"))
    throw invalidField("key", "absent from the query: send it in the header x-goog-api-key");
  const [alt, other] = [...query.getAll("alt"), ...query.getAll("$alt")];
  if (other !== undefined) throw invalidField("alt", "given once");
  if (action === "streamGenerateContent" && alt !== "sse")
    throw invalidField("alt", "sse for a stream: add ?alt=sse to the address");
  if (action !== "streamGenerateContent" && alt !== undefined && alt !== "json")
    throw invalidField("alt", "json or absent: only streamGenerateContent sends events");
}

/** A name that is not well encoded stands for itself. */
function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
