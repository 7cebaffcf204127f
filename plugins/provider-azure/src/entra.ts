/**
 * Tokens of an Entra application: the client credentials flow
 * (learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow, "First case: access token request with a shared secret").
 */

import { openTokens, type TokenSource } from "@sluice/kit/transport";
import type { Host } from "@sluice/spec";
import type { AzureConfig } from "./config.ts";

/** The tokens of the application that the options name; `undefined` when they name none. */
export function entraTokens(config: AzureConfig, host: Host): TokenSource | undefined {
  const { tenant_id: tenant, client_id: client, client_secret: secret, authority, scope } = config;
  if (tenant === undefined || client === undefined || secret === undefined) return undefined;
  const url = `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  return openTokens(host, [url, client, secret.reveal(), scope], {
    name: secret.name,
    request: () => ({
      kind: "http",
      method: "POST",
      url,
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: client,
        client_secret: secret.reveal(),
        scope,
      }).toString(),
    }),
  });
}
