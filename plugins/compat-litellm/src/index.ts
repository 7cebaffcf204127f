/** The extension `litellm`: applications and scripts that come from LiteLLM. */

import { defineExtension } from "@sluice/kit";
import { ALIASES } from "./routes/aliases.ts";
import { type LitellmConfig, litellmSchema } from "./config.ts";
import { litellmError } from "./write/errors.ts";
import { replyHeaders } from "./write/headers.ts";
import { createReader } from "./read/reader.ts";
import { routesOf } from "./routes/routes.ts";

export default defineExtension<LitellmConfig>({
  name: "litellm",
  stability: "beta",
  summary: "Fields, headers, routes and errors of LiteLLM, in the gateway's own words.",
  config: litellmSchema,
  keyHeaders: ["x-litellm-api-key"],
  create(config, host) {
    return {
      read: createReader(host),
      headers: replyHeaders,
      ...(config.errors === "litellm" ? { error: litellmError } : {}),
      aliases: ALIASES,
      routes: routesOf(config, host),
    };
  },
});
