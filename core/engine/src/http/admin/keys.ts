/** Admin routes for keys, in LiteLLM's words. */

import { randomBytes } from "node:crypto";
import { type Clock, GatewayError, type JsonObject, type JsonValue, type KeyRecord, type KeyStore } from "@sluice/spec";
import { isObject } from "@sluice/kit";
import { parseDuration } from "../../config/duration.ts";
import type { KeyRing } from "../../resources/key-ring.ts";
import type { AdminRoutes } from "./app.ts";

/** What the routes need. */
export interface KeyRouteParts {
  readonly keys: KeyStore;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
}

const FIELDS = ["key_alias", "models", "duration", "tags", "metadata", "user_id", "team_id", "blocked"];

/** `POST /key/generate` and `GET /key/info`. */
export function keyRoutes({ keys, keyRing, clock }: KeyRouteParts): AdminRoutes {
  return {
    async "POST /key/generate"({ body }) {
      const fields = readFields(body, clock);
      const key = `sk-${randomBytes(32).toString("base64url")}`;
      const record: KeyRecord = {
        ...fields,
        id: `key_${randomBytes(9).toString("base64url")}`,
        digest: keyRing.digest(key),
        last4: key.slice(-4),
        maxBudgetNanoUsd: null,
        budgetDuration: null,
        rpm: null,
        tpm: null,
        maxParallelRequests: null,
        guardrails: [],
        createdAtMs: clock.now(),
      };
      await keys.insert(record);
      keyRing.forget();
      // The only time the key itself is shown.
      return { key, ...describe(record) };
    },
    async "GET /key/info"({ query }) {
      const asked = query.get("key");
      if (asked === null || asked === "") {
        throw new GatewayError("invalid_field", "The query parameter key is missing: a key or its id.", { param: "key" });
      }
      const record = (await keys.find(asked)) ?? (await keys.findByDigest(keyRing.digest(asked)));
      if (record === undefined) throw new GatewayError("not_found", "There is no such key.", { param: "key" });
      return { key: record.id, info: describe(record) };
    },
  };
}

type Fields = Pick<KeyRecord, "alias" | "models" | "expiresAtMs" | "tags" | "metadata" | "userId" | "teamId" | "blocked">;

function readFields(body: JsonObject, clock: Clock): Fields {
  for (const name of Object.keys(body)) {
    if (!FIELDS.includes(name)) {
      throw new GatewayError("invalid_field", `The field ${name} is not known; a key takes ${FIELDS.join(", ")}.`, {
        param: name,
      });
    }
  }
  const duration = textOf(body, "duration");
  const lifeMs = duration === null ? null : parseDuration(duration);
  if (lifeMs === undefined) {
    throw new GatewayError("invalid_field", "The field duration must look like 30s, 10m, 1h or 7d.", { param: "duration" });
  }
  const { metadata = null } = body;
  if (metadata !== null && !isObject(metadata)) throw wrongType("metadata", "an object");
  const { blocked = null } = body;
  if (blocked !== null && typeof blocked !== "boolean") throw wrongType("blocked", "a boolean");
  return {
    alias: textOf(body, "key_alias"),
    models: listOf(body.models, "models"),
    expiresAtMs: lifeMs === null ? null : clock.now() + lifeMs,
    tags: listOf(body.tags, "tags"),
    metadata: metadata ?? {},
    userId: textOf(body, "user_id"),
    teamId: textOf(body, "team_id"),
    blocked: blocked === true,
  };
}

function textOf(body: JsonObject, name: string): string | null {
  const value = body[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw wrongType(name, "a string");
  return value;
}

function listOf(value: JsonValue | undefined, name: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) throw wrongType(name, "an array of strings");
  return value as string[];
}

function wrongType(name: string, expected: string): GatewayError {
  return new GatewayError("invalid_field", `The field ${name} must be ${expected}.`, { param: name });
}

/** A key as an administrator sees it: everything but the key and its digest. */
function describe(record: KeyRecord): JsonObject {
  return {
    token_id: record.id,
    key_name: `sk-...${record.last4}`,
    key_alias: record.alias,
    models: record.models,
    expires: record.expiresAtMs === null ? null : new Date(record.expiresAtMs).toISOString(),
    tags: record.tags,
    metadata: record.metadata as JsonObject,
    user_id: record.userId,
    team_id: record.teamId,
    blocked: record.blocked,
    created_at: new Date(record.createdAtMs).toISOString(),
  };
}
