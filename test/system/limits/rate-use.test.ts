/**
 * What of the rates of a key and of a team is used now, with windows in memory and in Redis. Redis
 * is skipped by name where none answers.
 */

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  adminCommand,
  REDIS,
  redisAnswers,
} from "../../../plugins/shared-redis/src/redis.fixture.ts";
import { MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const hasRedis = await redisAnswers();
const PREFIX = `{sluice-rates-${randomUUID()}}:`;
const DECLARED = "sk-of-the-rates-that-are-declared-0123456789";
const ENVIRONMENT = { DECLARED, TEST_REDIS_URL: `redis://${REDIS.host}:${REDIS.port}/9` };

const PLACES = [
  { name: "in memory", isThere: true, shared: "" },
  {
    name: "in Redis",
    isThere: hasRedis,
    shared: `shared: { use: redis, url: "\${env:TEST_REDIS_URL}", prefix: "${PREFIX}", command_timeout: 5s }\n`,
  },
];
if (!hasRedis) console.info("skipped: rates in Redis, as none answers");

/** The use in the page of a key or of a team. */
type Used = { readonly rpm_used: number | null; readonly tpm_used: number | null };

for (const { name, isThere, shared } of PLACES)
  describe.skipIf(!isThere)(`the rates of keys and teams ${name}`, () => {
    let gateway: GatewayProcess;
    beforeAll(async () => {
      const options = { models: ["{ id: chat, targets: [{ provider: echo, model: echo }] }"] };
      const workspace = createWorkspace(options);
      const keys = `keys:\n  - { alias: declared, key: "\${env:DECLARED}", rpm: 100 }\n`;
      workspace.write(`${workspace.config(options)}${shared}${keys}`);
      gateway = await startGateway(workspace, ENVIRONMENT);
    });
    afterAll(async () => {
      await gateway?.dispose();
      if (shared === "") return;
      const left = (await adminCommand("KEYS", `${PREFIX}*`)) as readonly string[];
      if (left.length > 0) await adminCommand("DEL", ...left);
    });

    async function admin<T>(path: string, body?: object): Promise<T> {
      const response = await fetch(`${gateway.adminUrl}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
      return JSON.parse(text) as T;
    }
    const ofKey = async (key: string): Promise<Used> =>
      (await admin<{ info: Used }>(`/key/info?key=${encodeURIComponent(key)}`)).info;
    const ofTeam = async (id: string): Promise<Used> =>
      (await admin<{ team_info: Used }>(`/team/info?team_id=${id}`)).team_info;
    async function chat(key: string): Promise<number> {
      const response = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", max_tokens: 5, messages: MESSAGES }),
      });
      await response.text();
      return response.status;
    }

    it("are those of the requests of the last minute, of each owner", async () => {
      const { team_id: team } = await admin<{ team_id: string }>("/team/new", {
        team_alias: "measured",
        rpm_limit: 50,
      });
      const made = async (fields: object): Promise<string> =>
        (await admin<{ key: string }>("/key/generate", fields)).key;
      const [one, other] = await Promise.all([
        made({ team_id: team, rpm_limit: 10, tpm_limit: 100_000 }),
        made({ team_id: team, user_id: "u1", rpm_limit: 10 }),
      ]);
      expect(await ofKey(one)).toMatchObject({ rpm_used: 0, tpm_used: 0 });
      expect(await chat(one)).toBe(200);
      expect(await chat(one)).toBe(200);
      expect(await chat(other)).toBe(200);
      const used = await ofKey(one);
      expect(used.rpm_used).toBe(2);
      expect(used.tpm_used).toBeGreaterThan(2);
      expect(await ofKey(other)).toMatchObject({ rpm_used: 1, tpm_used: null });
      expect(await ofTeam(team)).toMatchObject({ rpm_used: 3, tpm_used: null });
    });

    it("of a declared key are counted too", async () => {
      expect(await chat(DECLARED)).toBe(200);
      expect(await ofKey("declared")).toMatchObject({ rpm_used: 1, tpm_used: null });
    });

    it("are null where no rate is limited", async () => {
      const { key } = await admin<{ key: string }>("/key/generate", {});
      expect(await chat(key)).toBe(200);
      expect(await ofKey(key)).toMatchObject({ rpm_used: null, tpm_used: null });
    });
  });
