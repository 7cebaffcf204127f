/** The victim of `proof:bodies`: another key, with one request every 50 ms. */

import { chat, MESSAGES } from "../../system/support/client.ts";
import type { GatewayProcess } from "../../system/support/gateway-process.ts";
import { CoreWaits } from "../core-waits.ts";
import { type Seen, watchVictim } from "../victim.ts";
import { obey } from "./part.ts";

/** Watches a gateway for some seconds. */
export interface VictimOrder {
  readonly gateway: { readonly pid: number; readonly publicUrl: string };
  readonly key: string;
  readonly seconds: number;
}

obey<VictimOrder, Seen>(({ gateway, key, seconds }) =>
  watchVictim(
    () =>
      chat(
        gateway as GatewayProcess,
        { model: "gpt-4o", messages: MESSAGES },
        { headers: { authorization: `Bearer ${key}` } },
      ),
    new CoreWaits(gateway.pid),
    seconds,
  ),
);
