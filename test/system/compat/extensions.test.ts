/** The extension points, with an extension of the operator's own: what it may do, and what not. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

/** Does what the field `act` of a request says. */
const EXTENSION = `
import { defineExtension } from "@sluice/kit";

const READINGS: Record<string, object> = {
  takes: { taken: ["messages"] },
  hides: { fields: { guardrails: [] } },
  unknown: { fields: { model: "other" } },
  late: { fields: { timeout: 0.5 } },
  foreign: { tags: ["owned:elsewhere"] },
  noted: { taken: ["mock_act"], tags: ["read:yes"], endUser: "edge-user", metadata: { from: "edge" } },
};

export default defineExtension<{ greeting: string }>({
  name: "tried",
  stability: "experimental",
  summary: "Is tried.",
  config: {
    type: "object",
    properties: { greeting: { type: "string", default: "hello", description: "What it says." } },
  },
  keyHeaders: ["x-tried-key"],
  create: ({ greeting }) => ({
    read: ({ body }) => READINGS[String(body.mock_act)],
    headers(reply) {
      const act = String(reply.exchange.client.header("x-act"));
      if (act === "throws") throw new Error("No headers.");
      return { "x-tried": greeting, "x-sluice-model": "forged", "set-cookie": "a=b", "x-bad": "a\\r\\nb: c" };
    },
    aliases: [{ route: "POST /talk", of: "POST /v1/chat/completions" }],
    routes: [
      {
        listener: "public", method: "POST", path: "/tried/keys", access: "key",
        handler: ({ body }, gateway) => gateway.call({ listener: "admin", method: "POST", path: "/key/generate", body }),
      },
      {
        listener: "public", method: "GET", path: "/tried/open", access: "open",
        handler: () => ({ status: 200, body: greeting }),
      },
      {
        listener: "public", method: "GET", path: "/v1/models", access: "key",
        handler: async (_request, gateway) => {
          const { status, body } = await gateway.call({ method: "GET", path: "/v1/models" });
          return { status, body: { own: body } };
        },
      },
      {
        listener: "admin", method: "DELETE", path: "/tried/{id}", access: "key.delete",
        handler: ({ client, body }) => ({ status: 200, body: { id: client.parameters.id, body } }),
      },
      {
        listener: "public", method: "GET", path: "/tried/fails", access: "open",
        handler: () => { throw new Error("A secret detail."); },
      },
    ],
  }),
});
`;

let upstream: Upstream;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    plugins: ["./tried.ts"],
    sections: ["extensions:\n  tried: { greeting: good day }"],
  });
  writeFileSync(join(workspace.folder, "config", "tried.ts"), EXTENSION);
  gateway = await startGateway(workspace);
});
afterEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const BODY = { model: "gpt-4o-mini", messages: MESSAGES };

function send(path: string, method = "GET", body?: object, key = gateway.masterKey) {
  return fetch(`${gateway.publicUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

describe("a reader", () => {
  it("adds tags, the end user and notes, and its field goes nowhere", async () => {
    const response = await chat(gateway, { ...BODY, mock_act: "noted" });
    expect(response.status).toBe(200);
    expect(upstream.requests.at(-1)?.body).not.toContain("mock_act");
    const [row] = await rowsOf(gateway, response.headers.get("x-request-id"));
    expect(row).toMatchObject({
      request_tags: ["read:yes"],
      end_user: "edge-user",
      metadata: { from: "edge" },
    });
  });

  it.each(["takes", "hides", "unknown"])(
    "that %s what is the client's fails the request",
    async (act) => {
      const response = await chat(gateway, { ...BODY, mock_act: act });
      expect(response.status).toBe(500);
      expect(upstream.requests).toEqual([]);
    },
  );

  it("passes the checks that a client's words pass", async () => {
    const late = await chat(gateway, { ...BODY, mock_act: "late" });
    expect(late.status).toBe(400);
    await createKey(gateway, { tags: ["owned:elsewhere"] });
    const { key } = await createKey(gateway, {});
    const foreign = await send(
      "/v1/chat/completions",
      "POST",
      { ...BODY, mock_act: "foreign" },
      key,
    );
    expect(foreign.status).toBe(403);
    expect(upstream.requests).toEqual([]);
  });

  it("is not asked before the key is known", async () => {
    const response = await send(
      "/v1/chat/completions",
      "POST",
      { ...BODY, mock_act: "takes" },
      "sk-x",
    );
    expect(response.status).toBe(401);
  });
});

describe("a writer of headers", () => {
  it("adds its own, and none of the gateway's or of the connection", async () => {
    const { headers, status } = await chat(gateway, BODY);
    expect(status).toBe(200);
    expect(headers.get("x-tried")).toBe("good day");
    expect(headers.get("x-sluice-model")).toBe("gpt-4o-mini");
    expect(headers.get("set-cookie")).toBeNull();
    expect(headers.get("x-bad")).toBeNull();
  });

  it("that throws leaves the reply without them", async () => {
    const response = await chat(gateway, BODY, { headers: { "x-act": "throws" } });
    expect([response.status, response.headers.get("x-tried")]).toEqual([200, null]);
  });
});

describe("a route", () => {
  it("does what its caller may do, and no more", async () => {
    const made = await send("/tried/keys", "POST", { key_alias: "made" });
    expect(await made.json()).toMatchObject({ key_alias: "made" });
    const { key } = await createKey(gateway, {});
    const refused = await send("/tried/keys", "POST", { key_alias: "more" }, key);
    expect(refused.status).toBe(403);
    expect((await send("/tried/keys", "POST", {}, "sk-unknown")).status).toBe(401);
    const list = (await (await admin(gateway, "/key/list?key_alias=more")).json()) as {
      keys: object[];
    };
    expect(list.keys).toEqual([]);
  });

  it("may stand before a route of a pipeline, and calls that one", async () => {
    const response = await send("/v1/models");
    expect(await response.json()).toMatchObject({ own: { object: "list" } });
  });

  it("needs no key where it is open, and says nothing of what it throws", async () => {
    const open = await fetch(`${gateway.publicUrl}/tried/open`);
    expect(await open.json()).toBe("good day");
    const failed = await fetch(`${gateway.publicUrl}/tried/fails`);
    expect(failed.status).toBe(500);
    expect(await failed.text()).not.toContain("secret detail");
    expect((await fetch(`${gateway.publicUrl}/tried/open`, { method: "POST" })).status).toBe(401);
  });

  it("of the admin listener has an action of the policy", async () => {
    const remove = (key: string) =>
      fetch(`${gateway.adminUrl}/tried/a%20b`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ a: 1 }),
      });
    const done = await remove(gateway.masterKey);
    expect([done.status, await done.json()]).toEqual([200, { id: "a%20b", body: { a: 1 } }]);
    const { key } = await createKey(gateway, {});
    expect((await remove(key)).status).toBe(403);
  });
});

describe("an alias", () => {
  it("is a route of the same pipeline, and the key may come in the extension's header", async () => {
    const { key } = await createKey(gateway, {});
    const response = await fetch(`${gateway.publicUrl}/talk`, {
      method: "POST",
      headers: { "x-tried-key": key, "content-type": "application/json" },
      body: JSON.stringify(BODY),
    });
    expect(response.status).toBe(200);
    expect(await rowsOf(gateway, response.headers.get("x-request-id"))).toHaveLength(1);
  });
});

describe("options", () => {
  it("of an extension are checked, and one that no package has is a finding", async () => {
    const workspace = createWorkspace({
      baseUrl: upstream.baseUrl,
      plugins: ["@sluice/compat-litellm"],
      provider: "pass_headers: [x-litellm-api-key]",
      sections: ["extensions:\n  litellm: { errors: loud }\n  nothere: {}"],
    });
    const failure = await startGateway(workspace).then(
      () => "",
      (error: unknown) => String(error),
    );
    expect(failure).toContain("`extensions.litellm.errors`");
    expect(failure).toContain('`extensions.nothere` names the extension plugin "nothere"');
    expect(failure).toContain('names "x-litellm-api-key", which carries a credential');
    workspace.remove();
  });
});
