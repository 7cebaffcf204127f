/**
 * The type of a value that a JSON Schema accepts: as people write it, or after validation has set
 * the defaults.
 */

/** `validated`: a member with a default is there, and a secret is no text. */
type Form = "written" | "validated";

/** The members of an object that are always there: required, or with a default. */
type Present<S, F extends Form> =
  | (S extends { readonly required: readonly (infer R)[] } ? R : never)
  | (F extends "validated" ? WithDefault<S> : never);

type WithDefault<S> = S extends { readonly properties: infer P }
  ? { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P]
  : never;

/** The declared members, each under its own type. */
type Declared<P, Names, F extends Form> = {
  readonly [K in keyof P as K extends Names ? K : never]: Accepted<P[K], F>;
} & {
  readonly [K in keyof P as K extends Names ? never : K]?: Accepted<P[K], F>;
};

/** One object type in messages and editors, in place of an intersection. */
type Merged<T> = { [K in keyof T]: T[K] };

type FromObject<S, F extends Form> = S extends { readonly properties: infer P }
  ? S extends { readonly additionalProperties: false }
    ? Merged<Declared<P, Present<S, F>, F>>
    : Merged<Declared<P, Present<S, F>, F>> & { readonly [option: string]: unknown }
  : S extends { readonly additionalProperties: infer A }
    ? Readonly<Record<string, Accepted<A, F>>>
    : Readonly<Record<string, unknown>>;

/** A schema whose `type` is a list says for each name what it says for that name alone. */
type FromType<T, S, F extends Form> = T extends "object"
  ? FromObject<S, F>
  : T extends "array"
    ? S extends { readonly items: infer I }
      ? readonly Accepted<I, F>[]
      : readonly unknown[]
    : T extends "string"
      ? string
      : T extends "integer" | "number"
        ? number
        : T extends "boolean"
          ? boolean
          : T extends "null"
            ? null
            : unknown;

type Accepted<S, F extends Form> = [S, F] extends [{ readonly "x-secret": true }, "validated"]
  ? unknown
  : S extends { readonly const: infer C }
    ? C
    : S extends { readonly enum: readonly (infer E)[] }
      ? E
      : S extends
            | { readonly anyOf: readonly (infer A)[] }
            | { readonly oneOf: readonly (infer A)[] }
        ? OneOf<A, F>
        : S extends { readonly type: readonly (infer T)[] }
          ? FromType<T, S, F>
          : S extends { readonly type: infer T }
            ? FromType<T, S, F>
            : unknown;

type OneOf<A, F extends Form> = A extends unknown ? Accepted<A, F> : never;

/**
 * What a schema accepts. Write the schema with `as const satisfies JsonSchema`. A secret is
 * `unknown`: validation puts a `Secret` in place of its text. Formats and patterns stay `string`.
 */
export type FromSchema<S> = Accepted<S, "validated">;

/** What people write: a member with a default may be left out, a reference is a text. */
export type Written<S> = Accepted<S, "written">;
