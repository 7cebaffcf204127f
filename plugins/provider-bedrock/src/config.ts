/** Options of the provider: where it is, and one of three ways to be let in. */

import { Option } from "@sluice/kit";
import type { ConfigFault, JsonSchema, Secret } from "@sluice/contract";

/** The options in YAML. */
export interface BedrockConfig {
  readonly region: string;
  readonly base_url?: string;
  readonly api_key?: Secret;
  readonly access_key_id?: Secret;
  readonly secret_access_key?: Secret;
  readonly session_token?: Secret;
  readonly profile?: string;
  readonly credentials?: "chain";
}

export const configSchema: JsonSchema = {
  type: "object",
  required: ["region"],
  properties: {
    region: {
      type: "string",
      pattern: "^[a-z0-9-]+$",
      description: "The region. Example: `us-east-1`.",
    },
    api_key: Option.secret(
      "A Bedrock API key, as a reference: `${env:AWS_BEARER_TOKEN_BEDROCK}`. Calls are not signed then.",
    ),
    access_key_id: Option.secret(
      "The access key that signs calls, as a reference: `${env:AWS_ACCESS_KEY_ID}`.",
    ),
    secret_access_key: Option.secret("Its secret, as a reference: `${env:AWS_SECRET_ACCESS_KEY}`."),
    session_token: Option.secret(
      "The token of temporary credentials, as a reference: `${env:AWS_SESSION_TOKEN}`.",
    ),
    credentials: {
      type: "string",
      enum: ["chain"],
      description:
        "`chain`: AWS's own chain finds credentials: environment, profile, SSO, web identity, container, instance. Needs the package @aws-sdk/credential-providers.",
    },
    profile: {
      type: "string",
      minLength: 1,
      description: "The profile that the chain uses. Example: `production`.",
    },
    base_url: Option.address(
      "Base address of the API, without a slash at the end. Default: the region's own. Example: `https://bedrock-runtime-fips.us-east-1.amazonaws.com`.",
    ),
  },
};

/** Checks that the schema cannot express: exactly one complete credential. */
export function checkCredentials(config: BedrockConfig): readonly ConfigFault[] {
  const {
    api_key: key,
    access_key_id: id,
    secret_access_key: secret,
    session_token: token,
    credentials,
    profile,
  } = config;
  const faults: ConfigFault[] = [];
  const ways = [
    key !== undefined && "api_key",
    (id ?? secret) !== undefined && "access_key_id",
    credentials !== undefined && "credentials",
  ];
  const named = ways.filter((way) => way !== false);
  if (named.length === 0) {
    faults.push({
      path: [],
      message: "the provider has no credential",
      fix: "write `api_key`, `access_key_id` and `secret_access_key`, or `credentials: chain`",
    });
  }
  const [first, second] = named;
  if (first !== undefined && second !== undefined) {
    faults.push({
      path: [second],
      message: `\`${first}\` and \`${second}\` are two credentials`,
      fix: "remove one of them",
    });
  }
  if ((id === undefined) !== (secret === undefined)) {
    const [there, missing] =
      id === undefined
        ? ["secret_access_key", "access_key_id"]
        : ["access_key_id", "secret_access_key"];
    faults.push({
      path: [there],
      message: `\`${there}\` needs \`${missing}\``,
      fix: `write \`${missing}\` beside it`,
    });
  }
  if (token !== undefined && id === undefined) {
    faults.push({
      path: ["session_token"],
      message: "`session_token` needs `access_key_id`",
      fix: "write both, or remove it",
    });
  }
  if (profile !== undefined && credentials === undefined) {
    faults.push({
      path: ["profile"],
      message: "`profile` needs `credentials: chain`",
      fix: "write `credentials: chain`",
    });
  }
  return faults;
}
