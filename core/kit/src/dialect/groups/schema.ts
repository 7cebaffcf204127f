/** JSON schemas in the subset that an upstream takes. */

export { type SchemaSubset as Subset, lowerSchema as lower } from "../request/schema.ts";
