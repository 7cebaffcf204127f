/** A spend row with the field names of the public interface, which are LiteLLM's. */

import type { JsonObject, SpendRow } from "@sluice/contract";
import { dollarsOf } from "@sluice/runtime";

/** The public shape of a row. */
export function publicRow(row: SpendRow): JsonObject {
  return {
    request_id: row.requestId,
    attempt: row.attempt,
    call_type: row.callType,
    api_key: row.keyId,
    key_alias: row.keyAlias,
    spend: row.costNanoUsd === null ? null : dollarsOf(row.costNanoUsd),
    total_tokens: row.totalTokens,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    cached_tokens: row.cachedTokens,
    reasoning_tokens: row.reasoningTokens,
    startTime: isoTime(row.startedAtMs),
    endTime: isoTime(row.endedAtMs),
    completionStartTime: row.firstContentAtMs === null ? null : isoTime(row.firstContentAtMs),
    model: row.model,
    model_id: row.targetId,
    model_group: row.modelGroup,
    custom_llm_provider: row.provider,
    user: row.userId,
    team_id: row.teamId,
    organization_id: row.organizationId,
    end_user: row.endUser,
    request_tags: row.tags,
    cache_hit: row.cacheHit,
    status: row.status,
    error_code: row.errorCode,
    usage_source: row.usageSource,
    cost_status: row.costStatus,
    generation: row.generation,
    metadata: (row.requests === undefined
      ? row.metadata
      : { ...row.metadata, refusals: row.requests }) as JsonObject,
    requester_ip_address: row.clientAddress,
    upstream_request_id: row.upstreamRequestId,
    completion_id: row.completionId,
  };
}

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
