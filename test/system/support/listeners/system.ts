/** The system and the audit, the same for one process and for several workers. */

import { afterAll, beforeAll, expect, it } from "vitest";
import type { AdminAnswer } from "@sluice/admin-api";
import { admin, createKey } from "../client.ts";
import { eventually } from "../eventually.ts";
import { type GatewayProcess, startGateway, startOwnProcess } from "../gateway-process.ts";

/** The tests with a number of workers. Call it in a `describe`. */
export function systemTests(workers: 1 | 2): void {
  let gateway: GatewayProcess;

  beforeAll(async () => {
    const start = workers === 1 ? startGateway : startOwnProcess;
    gateway = await start({ server: `workers: ${workers}` });
  }, 120_000);
  afterAll(() => gateway?.dispose());

  it("shows each process, the store, the shared state and the packages", async () => {
    const system = await eventually("all processes to answer", async () => {
      const response = await admin(gateway, "/system");
      const answer = (await response.json()) as AdminAnswer<"GET /system">;
      return answer.processes.length === workers ? answer : undefined;
    });
    const numbers = system.processes.map(({ worker }) => worker);
    expect(numbers.filter((number) => number !== null).length).toBe(workers === 1 ? 0 : 2);
    for (const one of system.processes) {
      expect(one.memory_bytes).toBeGreaterThan(one.heap_bytes);
      expect([one.outbox_batches, one.kept_rows]).toEqual([0, 0]);
    }
    expect(system.store).toMatchObject({ use: "sqlite", away: false, writable: true, fault: null });
    expect(system.shared.use).toBe("memory");
    const names = system.plugins.map(({ package: name }) => name);
    expect(names.some((name) => name.includes("@sluice/standard"))).toBe(true);
    expect(new Set(names).size).toBe(names.length);
    // Scrapers send parameters of their own.
    expect((await admin(gateway, "/metrics?format=prometheus")).status).toBe(200);
  });

  it("shows what the doctor finds, and asks once for several callers", async () => {
    const asked = Array.from({ length: 4 }, async () => {
      const response = await admin(gateway, "/system/checks");
      expect(response.status).toBe(200);
      return (await response.json()) as AdminAnswer<"GET /system/checks">;
    });
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ at }) => at)).size).toBeLessThanOrEqual(workers);
    const [{ checks }] = answers as [AdminAnswer<"GET /system/checks">];
    const of = (name: string) => checks.find((check) => check.name === name);
    expect(checks.filter(({ grade }) => grade === "fail")).toEqual([]);
    for (const name of ["node", "memory", "disk", "master key", "shared state"])
      expect([name, of(name)?.found]).toEqual([name, expect.stringMatching(/./)]);
    expect(of("provider openai")).toMatchObject({ grade: "ok", found: "its credential is set" });
    expect(JSON.stringify(checks)).not.toContain("sk-upstream");
    expect((await admin(gateway, "/system/checks?online=maybe")).status).toBe(400);
  });

  it("lists the audit page by page, by the described filters", async () => {
    const { token_id: id } = await createKey(gateway, {});
    await admin(gateway, "/key/block", { key: id });
    const read = async (query: string): Promise<AdminAnswer<"GET /audit">> => {
      const response = await admin(gateway, `/audit?${query}`);
      expect([query, response.status]).toEqual([query, 200]);
      return (await response.json()) as AdminAnswer<"GET /audit">;
    };
    const first = await read(`object=key:${id}&limit=1`);
    expect(first.lines.map(({ action }) => action)).toEqual(["key.block"]);
    const second = await read(`object=key:${id}&limit=1&cursor=${first.next_cursor}`);
    expect(second.lines.map(({ action }) => action)).toEqual(["key.create"]);
    for (const query of ["limit=0", "limit=1001", "outcome=other", "what=1"])
      expect([query, (await admin(gateway, `/audit?${query}`)).status]).toEqual([query, 400]);
  });
}
