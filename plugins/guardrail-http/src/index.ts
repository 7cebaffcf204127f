/** @sluice/guardrail-http: a service of the operator's own judges, over one documented protocol. */

import { createHmac } from "node:crypto";
import { defineGuardrail, parseDuration } from "@sluice/kit";
import { createJsonService } from "@sluice/kit/transport";
import type { ConfigFault, Secret } from "@sluice/contract";
import { litellm, sluice } from "./dialects.ts";
import { Sessions } from "./sessions.ts";

interface HttpConfig {
  readonly url: string;
  readonly dialect: "sluice" | "litellm";
  readonly api_key?: Secret;
  readonly secret?: Secret;
  readonly reach?: number;
  readonly offsets: "utf16" | "codepoints";
  readonly timeout: string;
  readonly connections: number;
  readonly params: Readonly<Record<string, unknown>>;
  readonly sample: string;
}

const MAX_ANSWER_BYTES = 8_388_608;
const LITELLM_PATH = "/beta/litellm_basic_guardrail_api";

export default defineGuardrail<HttpConfig>({
  name: "http",
  stability: "beta",
  summary: "Sends every text to your own guardrail service.",
  isRemote: true,
  config: {
    type: "object",
    required: ["url", "sample"],
    properties: {
      url: {
        type: "string",
        pattern: "^https?://[^/?#@]+(/[^#]*)?$",
        description:
          "Where the service is asked. Nothing of a request changes it, and redirects are not followed. Example: `http://guard:8080/judge`.",
      },
      dialect: {
        type: "string",
        enum: ["sluice", "litellm"],
        default: "sluice",
        description:
          "sluice: docs/guardrail-http.md; litellm: the generic guardrail API of LiteLLM, whose path is added to `url`.",
      },
      api_key: {
        type: "string",
        "x-secret": true,
        description:
          "Sent as `authorization: Bearer …`, in the dialect litellm as `x-api-key`. A reference: `${env:GUARD_KEY}`.",
      },
      secret: {
        type: "string",
        "x-secret": true,
        description: "Signs every call: `x-sluice-signature`. A reference: `${env:GUARD_SECRET}`.",
      },
      reach: {
        type: "integer",
        minimum: 0,
        maximum: 65_536,
        description:
          "Characters of context that a verdict of the service depends on. Absent: the whole text, and streams need `stream: hold`. Example: `200`.",
      },
      offsets: {
        type: "string",
        enum: ["utf16", "codepoints"],
        default: "utf16",
        description:
          "How the service counts characters: utf16 as JavaScript, Java and C#; codepoints as Python, Go runes and Rust chars.",
      },
      timeout: {
        type: "string",
        format: "duration",
        default: "10s",
        description: "For one call. `budget_ms` ends it before that.",
      },
      connections: {
        type: "integer",
        minimum: 1,
        maximum: 1_024,
        default: 32,
        description: "Calls at the same time at most. Each key has a part of them.",
      },
      params: {
        type: "object",
        default: {},
        description: "Sent with every call, as it is. Example: `{ policy: strict }`.",
      },
      sample: {
        type: "string",
        minLength: 1,
        description: "A text that the service must deny: it is asked at every load.",
      },
    },
  },
  check: httpFaults,
  sample: ({ sample }) => sample,
  create(config, host) {
    const { api_key: key, secret, offsets: unit, params, dialect: name } = config;
    const dialect = name === "litellm" ? litellm : sluice;
    const service = createJsonService(host, {
      name: `http:${config.url}`,
      url: urlOf(config),
      headers:
        key === undefined
          ? {}
          : name === "litellm"
            ? { "x-api-key": key }
            : { authorization: key.map((value) => `Bearer ${value}`) },
      timeoutMs: parseDuration(config.timeout) ?? 10_000,
      maxBytes: MAX_ANSWER_BYTES,
      connections: config.connections,
    });
    const sessions = new Sessions();
    return {
      reach: config.reach ?? Infinity,
      async check(text, signal, context) {
        const session = sessions.eventOf(text, context, signal);
        const question = { text, context, session, unit, params };
        const body = JSON.stringify(dialect.write(question));
        const headers = signatureOf(body, secret, host.clock.now());
        return dialect.read(
          await service.post(body, signal, { headers, caller: context.caller }),
          question,
        );
      },
    };
  },
});

/**
 * HMAC-SHA-256 over the time and the body: only the gateway can make a call, and a call cannot be
 * repeated much later.
 */
function signatureOf(
  body: string,
  secret: Secret | undefined,
  nowMs: number,
): Readonly<Record<string, string>> {
  if (secret === undefined) return {};
  const seconds = Math.floor(nowMs / 1_000);
  const digest = createHmac("sha256", secret.reveal()).update(`${seconds}.${body}`).digest("hex");
  return { "x-sluice-signature": `t=${seconds},v1=${digest}` };
}

function urlOf({ url, dialect }: HttpConfig): string {
  if (dialect !== "litellm" || url.endsWith(LITELLM_PATH)) return url;
  return url.replace(/\/$/, "") + LITELLM_PATH;
}

function httpFaults({ dialect, reach }: HttpConfig): ConfigFault[] {
  if (dialect !== "litellm" || reach === undefined) return [];
  return [
    {
      path: ["reach"],
      message: "The dialect litellm judges whole texts only",
      fix: "remove `reach`",
    },
  ];
}
