/** The type of a value that a JSON Schema of the configuration accepts, before validation. */

/** Each declared member: those that the schema requires are there. */
type Declared<P, Names> = {
  readonly [K in keyof P as K extends Names ? K : never]: Written<P[K]>;
} & {
  readonly [K in keyof P as K extends Names ? never : K]?: Written<P[K]>;
};

type Required<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

/** One object type in messages and editors, in place of an intersection. */
type Merged<T> = { [K in keyof T]: T[K] };

type WrittenObject<S> = S extends { readonly properties: infer P }
  ? S extends { readonly additionalProperties: false }
    ? Merged<Declared<P, Required<S>>>
    : Merged<Declared<P, Required<S>>> & { readonly [option: string]: unknown }
  : S extends { readonly additionalProperties: infer A }
    ? Readonly<Record<string, Written<A>>>
    : Readonly<Record<string, unknown>>;

type WrittenType<T, S> = T extends "object"
  ? WrittenObject<S>
  : T extends "array"
    ? S extends { readonly items: infer I }
      ? readonly Written<I>[]
      : readonly unknown[]
    : T extends "string"
      ? string
      : T extends "integer" | "number"
        ? number
        : T extends "boolean"
          ? boolean
          : unknown;

/** What people write: a member with a default may be left out, a reference is a text. */
export type Written<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] } | { readonly oneOf: readonly (infer A)[] }
      ? OneOf<A>
      : S extends { readonly type: readonly (infer T)[] }
        ? WrittenType<T, S>
        : S extends { readonly type: infer T }
          ? WrittenType<T, S>
          : unknown;

type OneOf<A> = A extends unknown ? Written<A> : never;
