/**
 * The type of a value that a JSON Schema of the configuration accepts, after validation has set the
 * defaults.
 */

/** The members of an object that are always there: required, or with a default. */
type Present<S> =
  | (S extends { readonly required: readonly (infer R)[] } ? R : never)
  | (S extends { readonly properties: infer P }
      ? { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P]
      : never);

/** The declared members, each under its own type. */
type Declared<P, Names> = {
  readonly [K in keyof P as K extends Names ? K : never]: FromSchema<P[K]>;
} & {
  readonly [K in keyof P as K extends Names ? never : K]?: FromSchema<P[K]>;
};

/** One object type in messages and editors, in place of an intersection. */
type Merged<T> = { [K in keyof T]: T[K] };

type FromObject<S> = S extends { readonly properties: infer P }
  ? S extends { readonly additionalProperties: false }
    ? Merged<Declared<P, Present<S>>>
    : Merged<Declared<P, Present<S>>> & { readonly [option: string]: unknown }
  : S extends { readonly additionalProperties: infer A }
    ? Readonly<Record<string, FromSchema<A>>>
    : Readonly<Record<string, unknown>>;

/** A schema whose `type` is a list says for each name what it says for that name alone. */
type FromType<T, S> = T extends "object"
  ? FromObject<S>
  : T extends "array"
    ? S extends { readonly items: infer I }
      ? readonly FromSchema<I>[]
      : readonly unknown[]
    : T extends "string"
      ? string
      : T extends "integer" | "number"
        ? number
        : T extends "boolean"
          ? boolean
          : unknown;

/**
 * What a schema accepts. Write the schema with `as const satisfies JsonSchema`. A secret is
 * `unknown`: validation puts a `Secret` in place of its text. Formats and patterns stay `string`.
 */
export type FromSchema<S> = S extends { readonly "x-secret": true }
  ? unknown
  : S extends { readonly const: infer C }
    ? C
    : S extends { readonly enum: readonly (infer E)[] }
      ? E
      : S extends
            | { readonly anyOf: readonly (infer A)[] }
            | { readonly oneOf: readonly (infer A)[] }
        ? OneOf<A>
        : S extends { readonly type: readonly (infer T)[] }
          ? FromType<T, S>
          : S extends { readonly type: infer T }
            ? FromType<T, S>
            : unknown;

type OneOf<A> = A extends unknown ? FromSchema<A> : never;
