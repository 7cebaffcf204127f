/**
 * A large request and a small one that say the same are one request: white space makes the
 * difference. The upstream gets the same document, and the row has the same counts.
 */

import type { JsonObject } from "@sluice/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chat, MESSAGES, rowsOf } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type EveryDialect, startEveryDialect } from "../support/every-dialect.ts";
import { faceRequestOf, FACE_KINDS } from "../support/planted/faces.ts";
import { Chance } from "../support/planted/requests.ts";

const COUNT = 3 * FACE_KINDS;
const PADDING = " \n".repeat(70_000);

let every: EveryDialect;
beforeAll(async () => {
  every = await startEveryDialect();
  // The tables that replies are counted with are loaded at the first count.
  await eventually("exact counts", async () => {
    const response = await chat(every.gateway, { model: "openai", messages: MESSAGES });
    await response.text();
    const [row] = await rowsOf(every.gateway, response.headers.get("x-request-id"));
    return row?.completion_tokens === 2;
  });
});
afterAll(() => every?.close());

interface Came {
  readonly status: number;
  readonly said: unknown;
  readonly sent: JsonObject | undefined;
  readonly headers: unknown;
  readonly row: unknown;
}

/** What comes of a body: the answer, what the upstream got, and the row. */
async function ask(path: string, text: string): Promise<Came> {
  const before = every.upstream.requests.length;
  const response = await fetch(every.gateway.publicUrl + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${every.gateway.masterKey}`,
      "content-type": "application/json",
    },
    body: text,
  });
  const said = (await response.text()).replaceAll(/(?:resp|msg|chatcmpl|cmpl)[-_][\w-]+/g, "id");
  const request = every.upstream.requests.slice(before).at(-1);
  const rows = await rowsOf(every.gateway, response.headers.get("x-request-id"));
  return {
    status: response.status,
    said: response.ok ? "" : said,
    sent: request === undefined ? undefined : (JSON.parse(request.body.toString()) as JsonObject),
    headers: [request?.url, response.headers.get("x-sluice-dropped-params")],
    row: rows.map((row) => [
      row.status,
      row.prompt_tokens,
      row.completion_tokens,
      row.spend,
      row.usage_source,
      row.request_tags,
      row.end_user,
    ]),
  };
}

it(`${COUNT} requests of ${FACE_KINDS} kinds are alike in both forms`, async () => {
  let served = 0;
  for (let number = 0; number < COUNT; number += 1) {
    const { path, body } = faceRequestOf(number, new Chance(91 * 1_000_003 + number));
    const text = JSON.stringify(body).replaceAll('"local"', '"custom"');
    const small = await ask(path.replace("models/local", "models/custom"), text);
    const large = await ask(
      path.replace("models/local", "models/custom"),
      text.replace("{", `{${PADDING}`),
    );
    expect([text, large]).toEqual([text, small]);
    if (small.status === 200) served += 1;
  }
  expect(served).toBeGreaterThan(COUNT / 2);
}, 120_000);
