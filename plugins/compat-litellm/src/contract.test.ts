import { describe, it } from "vitest";
import { extensionContract } from "@sluice/testing";
import litellm from "./index.ts";

const FIELDS = [
  "fallbacks",
  "context_window_fallbacks",
  "disable_fallbacks",
  "max_retries",
  "num_retries",
  "timeout",
  "stream",
  "stream_timeout",
  "request_timeout",
  "litellm_session_id",
  "litellm_trace_id",
  "litellm_call_id",
  "metadata",
  "model",
  "fastest_response",
];
const HEADERS = [
  "x-litellm-tags",
  "tags",
  "x-litellm-timeout",
  "x-litellm-stream-timeout",
  "x-litellm-num-retries",
  "x-litellm-end-user-id",
  "x-litellm-customer-id",
  "x-litellm-spend-logs-metadata",
  "x-litellm-trace-id",
  "x-litellm-call-id",
];

for (const errors of ["sluice", "litellm"] as const)
  for (const administration of ["admin", "public"] as const)
    extensionContract({ describe, it }, litellm, {
      config: { errors, administration },
      fields: FIELDS,
      headers: HEADERS,
    });
