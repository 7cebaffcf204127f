/**
 * Entra tokens, by one of three identities: an application with a secret, an application with a
 * token of its cluster
 * (learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow, first and third
 * case; learn.microsoft.com/azure/aks/workload-identity-overview), and the machine's own
 * (learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token, "Get
 * a token using HTTP").
 */

import { readFile } from "node:fs/promises";
import { Tokens } from "@sluice/kit/transport";
import { GatewayError, type Host, type HttpCall } from "@sluice/contract";
import type { AzureConfig } from "./config.ts";

const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const MACHINE_PATH = "/metadata/identity/oauth2/token?api-version=2018-02-01";

/** The tokens of the identity that the options name; `undefined` when they name none. */
export function openIdentity(config: AzureConfig, host: Host): Tokens.Source | undefined {
  const {
    credentials,
    client_id: client,
    client_secret: secret,
    federated_token_file: file,
    scope,
  } = config;
  if (credentials === "managed_identity") {
    return Tokens.open(host, [config.metadata_url, client ?? "", scope], {
      name: "managed identity",
      request: () => machineCall(config),
    });
  }
  const { tenant_id: tenant } = config;
  if (tenant === undefined || client === undefined) return undefined;
  const url = `${config.authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  const proven = (proof: Readonly<Record<string, string>>): HttpCall => ({
    kind: "http",
    method: "POST",
    url,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: client,
      scope,
      ...proof,
    }).toString(),
  });
  if (secret !== undefined) {
    const request = () => proven({ client_secret: secret.reveal() });
    return Tokens.open(host, [url, client, secret.reveal(), scope], { name: secret.name, request });
  }
  if (file === undefined) return undefined;
  // The cluster replaces the file every hour: each fetch reads it.
  const request = async () =>
    proven({ client_assertion_type: ASSERTION_TYPE, client_assertion: await readToken(file) });
  return Tokens.open(host, [url, client, file, scope], { name: "workload identity", request });
}

/** The older form of Entra's token call: a resource in place of a scope. */
function machineCall({
  metadata_url: metadataUrl,
  client_id: client,
  scope,
}: AzureConfig): HttpCall {
  const resource = scope.replace(/\/\.default$/, "");
  const whose = client === undefined ? "" : `&client_id=${encodeURIComponent(client)}`;
  const url = `${metadataUrl}${MACHINE_PATH}&resource=${encodeURIComponent(resource)}${whose}`;
  return { kind: "http", method: "GET", url, headers: { metadata: "true" }, body: undefined };
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (cause) {
    throw new GatewayError(
      "upstream_auth_failed",
      "The file with the gateway's federated token cannot be read.",
      { cause },
    );
  }
}
