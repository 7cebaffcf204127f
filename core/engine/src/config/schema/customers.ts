/** The section `customers:` of gateway.yaml. */

import type { JsonSchema } from "@sluice/contract";
import type { FromSchema } from "./from-schema.ts";
import { amountFields } from "./keys.ts";
import { customerSchema } from "./tenants.ts";

/** How the end users of applications are named and bounded. */
export const customersSchema = {
  type: "object",
  description:
    "The end users of applications, whom requests name by `user`, `safety_identifier` or, of the Messages API, `metadata.user_id`. Absent: their ids are in the spend rows, and records of the store bound them.",
  additionalProperties: false,
  properties: {
    ids: {
      type: "string",
      enum: ["plain", "hashed"],
      default: "plain",
      description:
        "How spend rows show a customer's id: as the request names it, or as a digest under the installation's pepper.",
    },
    headers: {
      type: "array",
      default: [],
      maxItems: 8,
      items: {
        type: "string",
        pattern: "^[A-Za-z0-9-]{1,64}$",
        description: "The name of a header.",
        examples: ["x-customer-id"],
      },
      description:
        "Headers that carry the customer's id. The first that is there wins over the body.",
    },
    new_customers: {
      type: "string",
      pattern: "^[1-9][0-9]{0,8}/(s|m|h)$",
      default: "1000/m",
      description:
        "Customers without a record that one key may bring in a second, minute or hour, in each process. One more gets a 429.",
    },
    memory: {
      type: "string",
      format: "size",
      default: "32mb",
      description:
        "Bytes of the customers that a process remembers. Beyond it, the key with the most loses those that were named the longest ago.",
    },
    default_budget: {
      type: "string",
      minLength: 1,
      description:
        "The budget whose limits hold for each customer whose record refers to no other one.",
    },
    defaults: {
      type: "object",
      additionalProperties: false,
      default: {},
      description: "Limits of each customer whose record has none of its own of the same name.",
      properties: amountFields,
    },
    records: {
      type: "array",
      default: [],
      description: "Customers with limits of their own.",
      items: customerSchema,
    },
  },
} as const satisfies JsonSchema;

/** `customers:` after validation. */
export type CustomersSection = FromSchema<typeof customersSchema>;
