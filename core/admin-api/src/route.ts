/** What a route of the admin listener takes and answers. */

import type { FromSchema, Written } from "./from-schema.ts";
import type { AnyObjectSchema, Schema } from "./schema.ts";

/** A route. A closed object of query parameters and of body fields: others are refused. */
export interface RouteSchema {
  /** What it does, in a line. */
  readonly about: string;
  /** Query parameters. Their values are texts in the URL; an empty one counts as absent. */
  readonly query?: AnyObjectSchema;
  /** Parameters that it does not name are ignored: callers send some of their own. */
  readonly ignoresOtherQuery?: true;
  /** Absent: the route takes no body. */
  readonly body?: AnyObjectSchema;
  /** The answer with status 200. */
  readonly answer: Schema;
  /** Media types of answers besides JSON. */
  readonly texts?: readonly string[];
}

/** Routes by `METHOD /path`. `:name` is a segment of the path, `*name` one or more. */
export type RouteSchemas = Readonly<Record<string, RouteSchema>>;

/** The body that a route takes. */
export type BodyOf<Route> = Route extends { readonly body: infer Body } ? Written<Body> : undefined;

/** The query parameters that a route takes. */
export type QueryOf<Route> = Route extends { readonly query: infer Query }
  ? Written<Query>
  : undefined;

/** The answer of a route. */
export type AnswerOf<Route> = Route extends { readonly answer: infer Answer }
  ? FromSchema<Answer>
  : never;
