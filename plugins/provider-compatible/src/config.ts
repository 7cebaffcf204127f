/** The options of the provider, and checks that a schema cannot express. */

import { Option } from "@sluice/kit";
import type { EmbeddingCalls } from "@sluice/kit/openai";
import type { ConfigFault, JsonSchema, Secret } from "@sluice/contract";
import { type Preset, type PresetName, PRESETS } from "./presets.ts";

/** The options in YAML. */
export interface CompatibleConfig {
  readonly preset: PresetName;
  readonly api_key?: Secret;
  readonly base_url?: string;
  readonly price_as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly responses?: boolean;
  readonly embedding_formats: readonly EmbeddingCalls.Format[];
}

/** Headers that the gateway itself writes. */
const OWN_HEADERS = new Set([
  "authorization",
  "content-type",
  "content-length",
  "host",
  "connection",
  "transfer-encoding",
]);

/** The schema of the options. */
export const compatibleConfigSchema: JsonSchema = {
  type: "object",
  properties: {
    preset: {
      type: "string",
      enum: Object.keys(PRESETS),
      default: "custom",
      description: "The provider whose deviations apply; `custom` has none. Example: `groq`.",
    },
    api_key: Option.secret(
      "The API key, as a reference: `${env:GROQ_API_KEY}`. Servers of your own may need none.",
    ),
    base_url: Option.address(
      "Base address of the API, without a slash at the end. Default: the preset's. Example: `http://127.0.0.1:8000/v1`.",
    ),
    price_as: {
      type: "string",
      pattern: "^[a-z0-9][a-z0-9-]*$",
      description:
        "The provider of the price table whose prices its models have. Default: the preset's. Example: `together`.",
    },
    headers: {
      type: "object",
      additionalProperties: {
        type: "string",
        pattern: "^[\\x20-\\x7e]*$",
        description: "One value.",
      },
      description:
        "Headers that go along with every call. Example: `{ http-referer: https://app.example.com, x-title: App }`.",
    },
    responses: Option.responses(undefined),
    embedding_formats: Option.embeddingFormats(["float"], "[float, base64]"),
  },
};

/** A preset without an address or without its key, and headers that are not the operator's. */
export function checkOptions(config: CompatibleConfig): readonly ConfigFault[] {
  const { preset: name, api_key: key, base_url: url, headers = {} } = config;
  const preset: Preset = PRESETS[name];
  const own = Object.keys(headers).find((header) => OWN_HEADERS.has(header.toLowerCase()));
  return [
    ...(url === undefined && preset.baseUrl === undefined
      ? [{ path: [], message: `the preset ${name} has no address`, fix: "set base_url" }]
      : []),
    ...(key === undefined && preset.needsKey === true && url === undefined
      ? [
          {
            path: [],
            message: `the preset ${name} needs a key`,
            fix: "set api_key, a reference to a variable",
          },
        ]
      : []),
    ...(own === undefined
      ? []
      : [
          {
            path: ["headers", own],
            message: `the gateway writes the header ${own} itself`,
            fix: "remove it; a key belongs into api_key",
          },
        ]),
  ];
}
