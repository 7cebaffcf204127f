/** Image requests of the reference dialect. The model defines its sizes and qualities. */

import type { ClientRequest, GatewayRequest, JsonDocument } from "@sluice/contract";
import { compileFields, type FieldTable } from "./body-fields.ts";
import { GATEWAY_FIELDS } from "./gateway-fields/table.ts";
import { takeGatewayFields } from "./gateway-fields/gateway-fields.ts";

/** Every field that an image request may hold and the gateway knows. */
export const IMAGES_BODY: FieldTable = {
  ...GATEWAY_FIELDS,
  prompt: {
    isRequired: true,
    schema: {
      type: "string",
      minLength: 1,
      description: "What the image shows.",
      examples: ["A sluice gate at dawn."],
    },
  },
  n: { schema: { type: "integer", minimum: 1, description: "Number of images.", examples: [1] } },
  size: {
    schema: {
      type: "string",
      description: "`<width>x<height>`, or `auto`.",
      examples: ["1024x1024"],
    },
  },
  quality: {
    schema: { type: "string", description: "A quality level of the model.", examples: ["high"] },
  },
  style: {
    schema: {
      type: "string",
      description: "A style hint, for models that take one.",
      examples: ["vivid"],
    },
  },
  response_format: {
    schema: {
      type: "string",
      enum: ["url", "b64_json"],
      description: "A temporary URL, or the image itself. Base64-only models have no URLs to give.",
      examples: ["b64_json"],
    },
  },
  background: {
    schema: {
      type: "string",
      description: "`transparent`, `opaque` or `auto`, for models that take it.",
      examples: ["auto"],
    },
  },
  output_format: {
    schema: { type: "string", description: "The format of the image's file.", examples: ["png"] },
  },
  output_compression: {
    schema: {
      type: "integer",
      minimum: 0,
      maximum: 100,
      description: "Compression in per cent, for formats that have one.",
      examples: [80],
    },
  },
  moderation: {
    schema: {
      type: "string",
      description: "How strict the provider's moderation is.",
      examples: ["auto"],
    },
  },
  stream: {
    schema: {
      type: "boolean",
      enum: [false],
      "x-words": "false: images are answered whole, as no provider serves streams of images",
      description: "Images are answered whole.",
      examples: [false],
    },
  },
  user: {
    schema: {
      type: "string",
      description: "The end user, for the spend row and the provider.",
      examples: ["alice"],
    },
  },
};

const checkFields = compileFields(IMAGES_BODY);

/** The request of an image body. Throws `invalid_field` with the field's name. */
export function receiveImages(document: JsonDocument, client: ClientRequest): GatewayRequest {
  checkFields(document.value);
  return { ...takeGatewayFields(document, client), stream: false, includeUsage: false };
}
