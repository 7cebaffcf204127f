/** The options of the provider, and checks that a schema cannot express. */

import { Option } from "@sluice/kit";
import type { ConfigFault, JsonSchema, Secret } from "@sluice/contract";

/** The options in YAML. */
export interface AzureConfig {
  readonly endpoint: string;
  readonly api: "v1" | "deployments";
  readonly api_version?: string;
  readonly responses?: boolean;
  readonly api_key?: Secret;
  readonly token?: Secret;
  readonly tenant_id?: string;
  readonly client_id?: string;
  readonly client_secret?: Secret;
  readonly federated_token_file?: string;
  readonly credentials?: "managed_identity";
  readonly metadata_url: string;
  readonly authority: string;
  readonly scope: string;
}

/** The schema of the options. */
export const azureConfigSchema: JsonSchema = {
  type: "object",
  required: ["endpoint"],
  properties: {
    endpoint: Option.address(
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
    responses: Option.responses("with `api: v1` at an address of Azure"),
    api_key: Option.secret("The resource's key, as a reference: `${env:AZURE_OPENAI_API_KEY}`."),
    token: Option.secret(
      "An Entra token that another program renews, as a reference: `${file:/run/secrets/entra-token}`.",
    ),
    tenant_id: {
      type: "string",
      pattern: "^[0-9A-Za-z.-]+$",
      description:
        "The Entra tenant that the application belongs to. Example: `contoso.onmicrosoft.com`.",
    },
    client_id: {
      type: "string",
      minLength: 1,
      description:
        "The application's id, or that of a user-assigned identity. Example: `6731de76-14a6-49ae-97bc-6eba6914391e`.",
    },
    client_secret: Option.secret(
      "The application's secret, as a reference: `${env:AZURE_CLIENT_SECRET}`.",
    ),
    federated_token_file: {
      type: "string",
      minLength: 1,
      description:
        "The file with the token of the application's workload identity; read anew for each fetch. Example: `/var/run/secrets/azure/tokens/azure-identity-token`.",
    },
    credentials: {
      type: "string",
      enum: ["managed_identity"],
      description:
        "`managed_identity`: that of the machine, or the user-assigned one of `client_id`. Example: `managed_identity`.",
    },
    metadata_url: {
      type: "string",
      pattern: "^https?://[^/?#]+$",
      default: "http://169.254.169.254",
      description:
        "The metadata service that has the machine's tokens. Example: `http://169.254.169.254`.",
    },
    authority: {
      type: "string",
      pattern: "^https?://[^/?#]+(/[^?#]*[^/?#])?$",
      default: "https://login.microsoftonline.com",
      description:
        "Where Entra hands out tokens; another one in a national cloud. Example: `https://login.microsoftonline.us`.",
    },
    scope: {
      type: "string",
      default: "https://cognitiveservices.azure.com/.default",
      description:
        "The scope of the token. Example: `https://cognitiveservices.azure.us/.default`.",
    },
  },
};

/** The credentials that there are, by the options that each is made of. */
const WAYS = {
  api_key: ["api_key"],
  token: ["token"],
  client_secret: ["tenant_id", "client_id", "client_secret"],
  federated_token_file: ["tenant_id", "client_id", "federated_token_file"],
  credentials: ["credentials"],
} as const satisfies Readonly<Record<string, readonly (keyof AzureConfig)[]>>;

/**
 * Checks that exactly one credential is configured, with all of its parts. `client_id` may select a
 * managed identity.
 */
export function checkCredential(config: AzureConfig): readonly ConfigFault[] {
  const named = Object.values(WAYS).filter(
    (parts) => config[parts.at(-1) ?? "api_key"] !== undefined,
  );
  const [way, another] = named;
  const isApplication = config.tenant_id !== undefined || config.client_id !== undefined;
  const fix =
    "set one of api_key, token, client_secret or federated_token_file with tenant_id and client_id, and credentials: managed_identity";
  if (another !== undefined)
    return [{ path: [], message: "the provider has more than one credential", fix }];
  if (way === undefined) {
    const message = isApplication
      ? "an Entra application needs client_secret or federated_token_file as well"
      : "the provider has no credential";
    return [{ path: [], message, fix }];
  }
  const missing = way.filter((part) => config[part] === undefined);
  if (missing.length > 0) {
    return [
      {
        path: [],
        message: `an Entra application needs ${missing.join(" and ")} as well`,
        fix: `add ${missing.join(" and ")}`,
      },
    ];
  }
  const parts: readonly string[] = config.credentials === undefined ? way : [...way, "client_id"];
  const odd = (["tenant_id", "client_id"] as const).find(
    (part) => config[part] !== undefined && !parts.includes(part),
  );
  return odd === undefined
    ? []
    : [{ path: [odd], message: `${odd} is no part of the credential`, fix: `remove ${odd}` }];
}
