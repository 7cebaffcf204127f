/** Many refused requests of one key leave few rows, and every one of them is counted (F11). */

import { afterAll, beforeAll, expect, it } from "vitest";
import { chat, createKey, MESSAGES } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const REFUSED = 300;
/** The requests may fall into two minutes, each with 60 rows and a sum. */
const MAX_ROWS = 2 * 61;

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway({ baseUrl: `${upstream.url}/v1` });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const read = async <T>(path: string): Promise<T> =>
  (await (
    await fetch(`${gateway.publicUrl}${path}`, {
      headers: { authorization: `Bearer ${gateway.masterKey}` },
    })
  ).json()) as T;

it("rows beyond a rate are one, and rows, days and tags count each request", async () => {
  const { key } = await createKey(gateway, { models: ["none"], tags: ["of-the-key"] });
  const metadata = Object.fromEntries(
    Array.from({ length: 14 }, (_, index) => [`note${index}`, "x".repeat(500)]),
  );
  const ask = async (): Promise<number> => {
    const response = await chat(
      gateway,
      { model: "gpt-4o", messages: MESSAGES, metadata, tags: ["asked"] },
      { headers: { authorization: `Bearer ${key}` } },
    );
    await response.text();
    return response.status;
  };
  for (let sent = 0; sent < REFUSED; sent += 20) {
    const statuses = await Promise.all(Array.from({ length: 20 }, ask));
    expect(new Set(statuses)).toEqual(new Set([404]));
  }
  // What is still counted in memory is written at the stop.
  await gateway.stop();
  gateway = await startGateway(gateway.workspace);

  type Row = {
    api_key: string;
    metadata: { refusals?: number };
    error_code: string;
    spend: number;
    model: string;
  };
  const rows = (await read<Row[]>("/spend/logs?limit=1000")).filter(
    ({ error_code: code }) => code !== null,
  );
  expect(rows.length).toBeLessThanOrEqual(MAX_ROWS);
  expect(JSON.stringify(rows).length).toBeLessThan(MAX_ROWS * 1_500);
  expect(rows.reduce((sum, { metadata: { refusals = 1 } }) => sum + refusals, 0)).toBe(REFUSED);
  const sums = rows.filter(({ metadata: { refusals } }) => refusals !== undefined);
  expect(sums.length).toBeGreaterThan(0);
  expect(
    new Set(sums.map(({ error_code: code, model, spend }) => `${code} ${model} ${spend}`)).size,
  ).toBe(1);

  const today = new Date().toISOString().slice(0, 10);
  const tags = await read<{ individual_request_tag: string; log_count: number }[]>("/spend/tags");
  expect(tags.map(({ individual_request_tag: tag, log_count: count }) => [tag, count])).toEqual(
    expect.arrayContaining([
      ["of-the-key", REFUSED],
      ["asked", REFUSED],
    ]),
  );
  const days = JSON.stringify(
    await read(`/spend/logs?summarize=true&start_date=${today}&end_date=${today}`),
  );
  expect(days).toContain(String(REFUSED));
});
