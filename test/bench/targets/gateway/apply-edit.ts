/** Asks a gateway to apply its files. */

import type { GatewayLaunch } from "./launch.ts";

/**
 * Resolves when the files serve, which the gateway may have noticed by itself. Throws with the
 * findings when they are refused.
 */
export async function applyEdit({ adminUrl, masterKey }: GatewayLaunch): Promise<void> {
  const reply = await fetch(`${adminUrl}/config/reload`, {
    method: "POST",
    headers: { authorization: `Bearer ${masterKey}` },
  });
  const text = await reply.text();
  const { outcome } = JSON.parse(text) as { readonly outcome?: string };
  if (outcome !== "applied" && outcome !== "unchanged")
    throw new Error(`An edit was not applied: ${text}`);
}
