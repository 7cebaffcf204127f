/** The options of the provider, and what a schema cannot say of them. */

import { addressOption, secretOption } from "@sluice/kit";
import type { ConfigFault, JsonSchema, Secret } from "@sluice/spec";

/** What YAML says. */
export interface AzureConfig {
  readonly endpoint: string;
  readonly api: "v1" | "deployments";
  readonly api_version?: string;
  readonly api_key?: Secret;
  readonly token?: Secret;
  readonly tenant_id?: string;
  readonly client_id?: string;
  readonly client_secret?: Secret;
  readonly authority: string;
  readonly scope: string;
}

/** The schema of the options. */
export const azureConfigSchema: JsonSchema = {
  type: "object",
  required: ["endpoint"],
  properties: {
    endpoint: addressOption(
      "The resource's address, without a slash at the end. Example: `https://my-resource.openai.azure.com`.",
    ),
    api: {
      type: "string",
      enum: ["v1", "deployments"],
      default: "v1",
      description:
        "`v1` calls `/openai/v1/…` and names the deployment in the body; `deployments` calls `/openai/deployments/{name}/…`. Example: `deployments`.",
    },
    api_version: {
      type: "string",
      pattern: "^[0-9A-Za-z.-]+$",
      description:
        "Sent as `api-version`. Default: `2024-10-21` with `api: deployments`, none with `api: v1`. Example: `2025-01-01-preview`.",
    },
    api_key: secretOption("The resource's key, as a reference: `${env:AZURE_OPENAI_API_KEY}`."),
    token: secretOption("An Entra token that somebody else renews, as a reference: `${file:/run/secrets/entra-token}`."),
    tenant_id: {
      type: "string",
      pattern: "^[0-9A-Za-z.-]+$",
      description: "The Entra tenant that the application belongs to. Example: `contoso.onmicrosoft.com`.",
    },
    client_id: { type: "string", description: "The application's id. Example: `6731de76-14a6-49ae-97bc-6eba6914391e`." },
    client_secret: secretOption("The application's secret, as a reference: `${env:AZURE_CLIENT_SECRET}`."),
    authority: {
      type: "string",
      pattern: "^https?://[^/?#]+(/[^?#]*[^/?#])?$",
      default: "https://login.microsoftonline.com",
      description: "Where Entra hands out tokens; another one in a national cloud. Example: `https://login.microsoftonline.us`.",
    },
    scope: {
      type: "string",
      default: "https://cognitiveservices.azure.com/.default",
      description: "What the token is for. Example: `https://cognitiveservices.azure.us/.default`.",
    },
  },
};

/** There must be one credential: a key, a token, or an application with all of its parts. */
export function checkCredential({ api_key, token, tenant_id, client_id, client_secret }: AzureConfig): readonly ConfigFault[] {
  const parts = { tenant_id, client_id, client_secret };
  const missing = Object.entries(parts).flatMap(([name, value]) => (value === undefined ? [name] : []));
  const isApplication = missing.length < 3;
  if (isApplication && missing.length > 0) {
    return [
      { path: [], message: `an Entra application needs ${missing.join(" and ")} as well`, fix: `add ${missing.join(" and ")}` },
    ];
  }
  const count = [api_key !== undefined, token !== undefined, isApplication].filter(Boolean).length;
  if (count === 1) return [];
  return [
    {
      path: [],
      message: count === 0 ? "the provider has no credential" : "the provider has more than one credential",
      fix: "set one of api_key, token, and tenant_id with client_id and client_secret",
    },
  ];
}
