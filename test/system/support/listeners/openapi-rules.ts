/** What readers of an OpenAPI document rely on. */

import { Ajv2020 } from "ajv/dist/2020.js";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** The rules of OpenAPI 3.1 (spec.openapis.org/oas/v3.1) that a reader of a document relies on. */
const OPENAPI = {
  type: "object",
  required: ["openapi", "info", "paths", "components"],
  properties: {
    openapi: { const: "3.1.0" },
    info: {
      type: "object",
      required: ["title", "version"],
      properties: { title: { type: "string" }, version: { type: "string" } },
    },
    servers: { type: "array", items: { type: "object", required: ["url"] } },
    security: { $ref: "#/$defs/security" },
    paths: {
      type: "object",
      propertyNames: { pattern: "^/[^?#]*$" },
      additionalProperties: {
        type: "object",
        propertyNames: { enum: METHODS },
        additionalProperties: { $ref: "#/$defs/operation" },
      },
    },
    components: {
      type: "object",
      propertyNames: { enum: ["schemas", "responses", "headers", "securitySchemes"] },
      additionalProperties: { type: "object", propertyNames: { pattern: "^[a-zA-Z0-9._-]+$" } },
      properties: {
        responses: { additionalProperties: { $ref: "#/$defs/response" } },
        securitySchemes: {
          additionalProperties: {
            type: "object",
            required: ["type"],
            properties: {
              type: { enum: ["http", "apiKey"] },
              in: { enum: ["header"] },
              name: { type: "string" },
            },
          },
        },
      },
    },
  },
  $defs: {
    security: { type: "array", items: { type: "object", additionalProperties: { type: "array" } } },
    content: {
      type: "object",
      minProperties: 1,
      additionalProperties: { type: "object", required: ["schema"] },
    },
    response: {
      type: "object",
      anyOf: [{ required: ["$ref"] }, { required: ["description"] }],
      properties: { description: { type: "string" }, content: { $ref: "#/$defs/content" } },
    },
    operation: {
      type: "object",
      required: ["operationId", "summary", "responses"],
      properties: {
        operationId: { type: "string", pattern: "^[a-zA-Z0-9_]+$" },
        summary: { type: "string", minLength: 1 },
        tags: { type: "array", items: { type: "string" } },
        security: { $ref: "#/$defs/security" },
        parameters: {
          type: "array",
          items: {
            type: "object",
            required: ["name", "in", "schema"],
            properties: { in: { enum: ["query", "path", "header"] } },
            anyOf: [
              { properties: { in: { enum: ["query", "header"] } } },
              { required: ["required"], properties: { required: { const: true } } },
            ],
          },
        },
        requestBody: {
          type: "object",
          required: ["content"],
          properties: { content: { $ref: "#/$defs/content" } },
        },
        responses: {
          type: "object",
          propertyNames: { pattern: "^([1-5][0-9][0-9]|default)$" },
          additionalProperties: { $ref: "#/$defs/response" },
        },
      },
    },
  },
};

/** What is wrong with a document; empty where nothing is. */
export function faultsOfDocument(document: unknown): readonly object[] {
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(OPENAPI);
  validate(document);
  return validate.errors ?? [];
}
