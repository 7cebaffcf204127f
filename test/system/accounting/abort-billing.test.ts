/**
 * What a row says, and costs, of a request whose client left: by route, before content and after
 * it, whole and streamed.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream, type UpstreamAction } from "@sluice/testing";
import { MESSAGES, type SpendRow, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const POLICIES = ["observed", "estimate_output", "input_only", "free"] as const;
type Policy = (typeof POLICIES)[number];
type Moment = keyof typeof MOMENTS;

/** Where the upstream falls silent, for ever. */
const MOMENTS = {
  "mid-stream": {
    stream: true,
    action: { kind: "reply", text: "one two three four", fault: { kind: "hang", after: 4 } },
  },
  "before content": { stream: true, action: { kind: "reply", fault: { kind: "hang", after: 1 } } },
  "before headers": { stream: true, action: { kind: "hang" } },
  whole: { stream: false, action: { kind: "hang" } },
  "whole, half of it there": {
    stream: false,
    action: { kind: "reply", fault: { kind: "hang", after: 40 } },
  },
} as const satisfies Record<string, { stream: boolean; action: UpstreamAction }>;

const SAID = countTokens("one two three ");
/** Three a message, the role, the content, three to begin the reply. */
const PROMPT = 3 + countTokens("user") + countTokens(MESSAGES[0]?.content ?? "") + 3;
const MAX_TOKENS = 400;
const MODEL_MAX_TOKENS = 150;

/** Nano-dollars: $0.15 and $0.60 for a million tokens. */
const cost = (prompt: number, completion: number): number => prompt * 150 + completion * 600;

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  const workspace = createWorkspace({
    baseUrl: upstream.baseUrl,
    models: [
      "{ id: gpt-4o-mini, targets: [{ provider: openai, model: gpt-4o-mini }] }",
      `{ id: short, targets: [{ provider: openai, model: gpt-4o-mini }], info: { max_output_tokens: ${MODEL_MAX_TOKENS} } }`,
    ],
  });
  for (const policy of POLICIES) {
    const name = policy.replace("_", "-");
    writeFileSync(
      join(workspace.pipelinesFolder, `${name}.yaml`),
      `version: 1
pipeline: ${name}
routes: [POST /${policy}/chat/completions]
operation: chat
steps: [auth, { use: cost, with: { on_abort: ${policy} } }, provider]
`,
    );
  }
  gateway = await startGateway(workspace);
  // The first counts may come before the tables are loaded, and are estimates then.
  // The estimate of what is said equals its count; that of the prompt does not.
  await eventually(
    "exact counts",
    async () => (await leave("observed", "mid-stream")).prompt_tokens === PROMPT,
  );
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await upstream?.close();
});

let asked = 0;

/** Asks, leaves at a moment, and returns the only row. */
async function leave(
  route: string,
  moment: Moment,
  body: object = { max_tokens: MAX_TOKENS },
): Promise<SpendRow> {
  const user = `leaves-${++asked}`;
  const { stream, action } = MOMENTS[moment];
  upstream.script(user, action);
  const leaving = new AbortController();
  const response = fetch(`${gateway.publicUrl}/${route}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "gpt-4o-mini",
      messages: MESSAGES,
      user,
      stream,
      metadata: { mine: 1 },
      ...body,
    }),
    signal: leaving.signal,
  });
  const outcome = response.catch(() => undefined);
  await upstream.waitFor((request) => request.parsed?.["user"] === user);
  if (moment === "mid-stream") {
    const reader = (await outcome)?.body?.getReader();
    for (let text = ""; !text.includes("three");)
      text += new TextDecoder().decode((await reader?.read())?.value);
  }
  leaving.abort();
  await outcome;
  const [row, ...others] = await eventually("the row", async () => {
    const rows = (await spendRows(gateway, {})).filter(({ end_user: name }) => name === user);
    return rows.length > 0 && rows;
  });
  if (row === undefined || others.length > 0)
    throw new Error(`${others.length + 1} rows, not one.`);
  return row;
}

/** What a row has to say. */
function expected(
  prompt: number | null,
  completion: number | null,
  nanoUsd: number,
  costStatus: "priced" | "free",
) {
  return {
    error_code: "client_closed",
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt === null || completion === null ? null : prompt + completion,
    usage_source: prompt === null ? null : "estimated",
    spend: nanoUsd / 1e9,
    cost_status: costStatus,
  };
}

const BILLED: Readonly<Record<Policy, { readonly begun: object; readonly unseen: object }>> = {
  observed: {
    begun: expected(PROMPT, SAID, cost(PROMPT, SAID), "priced"),
    unseen: expected(null, null, 0, "free"),
  },
  estimate_output: {
    begun: expected(PROMPT, MAX_TOKENS, cost(PROMPT, MAX_TOKENS), "priced"),
    unseen: expected(PROMPT, MAX_TOKENS, cost(PROMPT, MAX_TOKENS), "priced"),
  },
  input_only: {
    begun: expected(PROMPT, SAID, cost(PROMPT, 0), "priced"),
    unseen: expected(PROMPT, 0, cost(PROMPT, 0), "priced"),
  },
  free: {
    begun: expected(PROMPT, SAID, 0, "free"),
    unseen: expected(null, null, 0, "free"),
  },
};

describe.each(POLICIES)("a client that leaves where on_abort is %s", (policy) => {
  it("in the middle of a stream leaves a partial row, billed by that", async () => {
    expect(await leave(policy, "mid-stream")).toMatchObject({
      ...BILLED[policy].begun,
      status: "partial",
      metadata: { mine: 1, on_abort: policy },
    });
  });

  it.each(["before content", "before headers", "whole", "whole, half of it there"] as const)(
    "%s leaves a row of a failure, billed by that",
    async (moment) => {
      expect(await leave(policy, moment)).toMatchObject({
        ...BILLED[policy].unseen,
        status: "failure",
        metadata: { mine: 1, on_abort: policy },
      });
    },
  );
});

describe("estimate_output", () => {
  it("takes the model's longest output when the request names none, or a longer one", async () => {
    const wanted = expected(PROMPT, MODEL_MAX_TOKENS, cost(PROMPT, MODEL_MAX_TOKENS), "priced");
    for (const body of [{ model: "short" }, { model: "short", max_tokens: MAX_TOKENS }]) {
      expect(await leave("estimate_output", "mid-stream", body)).toMatchObject(wanted);
    }
  });

  it("is the observed output when neither request nor model names a maximum", async () => {
    expect(await leave("estimate_output", "mid-stream", {})).toMatchObject(BILLED.observed.begun);
  });
});

describe("the shipped pipeline", () => {
  it("bills what was observed", async () => {
    const row = await leave("v1", "mid-stream");
    expect(row).toMatchObject({ ...BILLED.observed.begun, metadata: { on_abort: "observed" } });
  });
});

describe("a stream that the upstream cuts", () => {
  it("is billed as observed, whatever is said of aborts", async () => {
    for (const policy of POLICIES) {
      const user = `cut-${policy}`;
      upstream.script(user, {
        kind: "reply",
        text: "one two three four",
        fault: { kind: "end", after: 4 },
      });
      const response = await fetch(`${gateway.publicUrl}/${policy}/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({
          model: "gpt-4o-mini",
          messages: MESSAGES,
          user,
          stream: true,
          max_tokens: MAX_TOKENS,
        }),
      });
      await response.text();
      const row = await eventually("the row", async () =>
        (await spendRows(gateway, {})).find(({ end_user: name }) => name === user),
      );
      expect(row).toMatchObject({
        ...BILLED.observed.begun,
        status: "partial",
        error_code: "stream_truncated",
        metadata: {},
      });
      expect(row.metadata).not.toHaveProperty("on_abort");
    }
  });
});
