/**
 * Tables of body fields. The check of a request and the schema of its documentation are made from
 * them.
 */

import { GatewayError, type JsonObject, type JsonSchema } from "@sluice/contract";
import { compileShape, formatPlace, type ShapeCheck } from "./shape.ts";

/** One field of a request body: JSON Schema with a description and an example. */
export interface Field {
  readonly schema: JsonSchema;
  readonly isRequired?: boolean;
}

/** Fields by name. */
export type FieldTable = Readonly<Record<string, Field>>;

/**
 * A check of the known fields of a body: one pass over its members. An optional field may be null.
 * Throws `invalid_field` with the place of the fault as `param`.
 */
export function compileFields(table: FieldTable): (body: JsonObject) => void {
  const checks = new Map<string, { readonly check: ShapeCheck; readonly isRequired: boolean }>();
  for (const [name, { schema, isRequired = false }] of Object.entries(table)) {
    checks.set(name, { check: compileShape(schema), isRequired });
  }
  const required = Object.keys(table).filter((name) => table[name]?.isRequired === true);
  return (body) => {
    for (const name of required)
      if (body[name] === undefined) throw invalidField([name], "is missing");
    for (const name in body) {
      const field = checks.get(name);
      const value = body[name];
      if (field === undefined || value === undefined || (value === null && !field.isRequired))
        continue;
      const fault = field.check(value);
      if (fault !== undefined) throw invalidField([name, ...fault.path], fault.problem);
    }
  };
}

/** The JSON Schema of a body with these fields. Others are allowed. */
export function bodySchema(table: FieldTable, description: string): JsonSchema {
  const fields = Object.entries(table);
  return {
    type: "object",
    description,
    required: fields.filter(([, { isRequired }]) => isRequired === true).map(([name]) => name),
    properties: Object.fromEntries(
      fields.map(([name, field]) => [
        name,
        field.isRequired === true ? field.schema : nullable(field.schema),
      ]),
    ),
  };
}

/** The error of a field: a place such as `["messages", 2, "role"]`, and what is wrong with it. */
export function invalidField(place: readonly (string | number)[], problem: string): GatewayError {
  const param = formatPlace(place);
  return new GatewayError("invalid_field", `The field ${param} ${problem}.`, { param });
}

function nullable(schema: JsonSchema): JsonSchema {
  if (schema.type === undefined) {
    const { description, examples, ...shape } = schema;
    return {
      ...(description === undefined ? {} : { description }),
      ...(examples === undefined ? {} : { examples }),
      anyOf: [shape, { type: "null" }],
    };
  }
  const types = [schema.type].flat();
  return {
    ...schema,
    type: [...types, "null"],
    ...(Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}),
  };
}
