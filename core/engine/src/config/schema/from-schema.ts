/** The type of a value that a JSON Schema of the configuration accepts. */

export type { FromSchema, Written } from "@sluice/admin-api";
