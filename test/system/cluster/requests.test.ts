/**
 * `GET /requests` and `sluice requests` with two workers (journeys C4): the lists of both as one,
 * also over several pages.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin } from "../support/client.ts";
import {
  createClusterWorkspace,
  type ClusterWorkspace,
  freshChat,
  SIZE,
} from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";

interface Page {
  readonly requests: readonly {
    readonly request_id: string;
    readonly status: number | null;
    readonly source: string;
  }[];
  readonly next_cursor: string | null;
}

/** Requests of each worker, at the least. */
const OF_EACH = 4;

let upstream: Upstream;
let workspace: ClusterWorkspace;
let gateway: GatewayProcess;
/** Newest first. */
const ids: string[] = [];

beforeAll(async () => {
  ids.length = 0;
  upstream = await createUpstream();
  workspace = createClusterWorkspace(upstream.baseUrl);
  gateway = await startGateway(workspace);
  const counts = new Map<number, number>();
  await eventually("requests at both workers", async () => {
    const { worker, id } = await freshChat(gateway);
    ids.unshift(id);
    counts.set(worker, (counts.get(worker) ?? 0) + 1);
    // Only the worker that refused it knows of a request without a key.
    ids.unshift((await freshChat(gateway, "sk-unknown")).id);
    return counts.size === SIZE && [...counts.values()].every((count) => count >= OF_EACH);
  });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

async function list(query = ""): Promise<Page> {
  return (await (await admin(gateway, `/requests${query}`)).json()) as Page;
}

/** Every page from the newest on. */
async function pages(limit: number, more = ""): Promise<Page["requests"][]> {
  const found: Page["requests"][] = [];
  let cursor = "";
  do {
    const page = await list(`?limit=${limit}${more}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    found.push(page.requests);
    cursor = page.next_cursor ?? "";
  } while (cursor !== "");
  return found;
}

describe("requests of two workers", () => {
  it("are one list, newest first, with what each worker has in its memory", async () => {
    const { requests, next_cursor: next } = await list("?limit=100");
    expect(requests.map((one) => one.request_id)).toEqual(ids);
    expect(requests.map((one) => one.status)).toEqual(
      ids.map((_id, index) => (index % 2 === 0 ? 401 : 200)),
    );
    expect([...new Set(requests.map((one) => one.source)), next]).toEqual(["memory", null]);
  });

  it.each([1, 3, 5])(
    "go on behind a cursor, %i a page, without a gap and without a repeat",
    async (limit) => {
      const found = await pages(limit);
      expect(found.flat().map((one) => one.request_id)).toEqual(ids);
      expect(found.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    },
  );

  it("go on behind a cursor under a filter", async () => {
    const wanted = ids.filter((_id, index) => index % 2 === 1);
    expect((await pages(2, "&status=ok")).flat().map((one) => one.request_id)).toEqual(wanted);
  });

  it("that began in the same moment are each there once", async () => {
    const before = (await pages(100)).flat().map((one) => one.request_id);
    const together = await Promise.all(Array.from({ length: 12 }, () => freshChat(gateway)));
    // One a page: a millisecond with several requests goes over several pages.
    for (const limit of [1, 2]) {
      const newest = (await pages(limit)).flat().map((one) => one.request_id);
      expect(newest.slice(0, together.length).toSorted()).toEqual(
        together.map(({ id }) => id).toSorted(),
      );
      expect(newest.slice(together.length)).toEqual(before);
      expect(new Set(newest).size).toBe(newest.length);
    }
  });

  it("are explained whichever worker had them", async () => {
    for (const id of ids.slice(0, 2 * OF_EACH)) {
      const explained = (await (await admin(gateway, `/requests/${id}`)).json()) as {
        request_id: string;
        source: string;
      };
      expect(explained).toMatchObject({ request_id: id, source: "memory" });
    }
  });

  it("are printed by sluice requests, page by page", async () => {
    const run = async (...more: string[]): Promise<string> => {
      const options = [
        "--config",
        gateway.configPath,
        "--admin-url",
        gateway.adminUrl,
        "--status",
        "ok",
        "--limit",
        "5",
        ...more,
      ];
      const command = runCommand(["requests", ...options], gateway.workspace.folder);
      await command.ended;
      return command.stdout;
    };
    const named = (text: string): string[] => text.match(/^[0-9a-f]{8}-\S+/gm) ?? [];
    const first = await run();
    const cursor = /^More: --cursor (\S+)$/m.exec(first)?.[1] ?? "";
    const second = await run("--cursor", cursor);
    const wanted = (await list("?status=ok&limit=10")).requests.map((one) => one.request_id);
    expect([...named(first), ...named(second)]).toEqual(wanted);
  });
});
