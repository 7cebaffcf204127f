/** Who made an edit and which lines it changed: in the history, the status and the log. */

import { userInfo } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { admin, configPost, configStatus } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

interface Entry {
  readonly generation: number;
  readonly author: { readonly name: string; readonly from: string } | null;
}

let workspace: Workspace;
let gateway: GatewayProcess;

const modelsOf = (...ids: string[]): string =>
  workspace.config({
    models: ids.map((id) => `{ id: ${id}, targets: [{ provider: echo, model: echo }] }`),
  });

beforeAll(async () => {
  workspace = createWorkspace();
  save("one");
  gateway = await startGateway(workspace, {}, "info");
});
afterAll(() => gateway?.dispose());

const save = (...ids: string[]): void =>
  workspace.write(modelsOf(...ids).replace("server: {", "server: { reload: on_request,"));

async function command(...args: string[]) {
  const run = runCommand(
    [...args, "--config", workspace.configPath, "--admin-url", gateway.adminUrl],
    workspace.folder,
  );
  const { code } = await run.ended;
  return { code, out: run.stdout, err: run.stderr };
}

async function authorOf(generation: number): Promise<Entry["author"] | undefined> {
  const { generations } = (await (await admin(gateway, "/config/history")).json()) as {
    readonly generations: readonly Entry[];
  };
  return generations.find((entry) => entry.generation === generation)?.author;
}

describe("the author of a generation", () => {
  it("is absent at the start", async () => {
    expect(await authorOf(1)).toBeNull();
  });

  it("is the name given to the route: in the history, the status, the attempt and the log", async () => {
    save("one", "two");
    expect(await configPost(gateway, "reload", { author: "Ada" })).toMatchObject({
      outcome: "applied",
      author: "Ada",
    });
    expect(await authorOf(2)).toEqual({ name: "Ada", from: "caller" });
    expect((await configStatus(gateway)).live).toMatchObject({ author: { name: "Ada" } });
    const lines = gateway.stderr.split("\n").filter((line) => line.includes('"author":"Ada"'));
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      "audit",
      "configuration applied",
    ]);
    expect((await command("history")).out).toMatch(/^\*2 .* files +Ada /m);
  });

  it("is the user that runs the command, or the name in --author; a rollback has its own", async () => {
    save("one", "three");
    expect((await command("reload")).code).toBe(0);
    expect(await authorOf(3)).toEqual({ name: userInfo().username, from: "caller" });
    expect((await command("rollback", "--author", "Grace")).out).toMatch(/^applied: generation 4/m);
    expect(await authorOf(4)).toEqual({ name: "Grace", from: "caller" });
    expect((await command("status")).out).toMatch(
      /^running generation 4 = rollback of 2 by Grace, .*\n(?:.*\n)*last attempt: applied at \S+ by Grace, /m,
    );
  });

  it("is the file where the caller gives no name", async () => {
    save("one", "four");
    expect((await configPost(gateway, "reload")).outcome).toBe("applied");
    const { generation } = (await configStatus(gateway)).live;
    expect(await authorOf(generation)).toEqual({ name: "file", from: "file" });
    expect((await command("history")).out).toMatch(
      new RegExp(`^\\*${generation} .* files +file `, "m"),
    );
    expect((await command("status")).out).toMatch(
      new RegExp(`^running generation ${generation} by a saved file, `, "m"),
    );
  });

  it("of a canary is its starter; the reason names the one that ended it", async () => {
    save("one", "five");
    const began = await configPost(gateway, "reload", { canary: { share: "5%" }, author: "Ada" });
    expect([began.outcome, ...began.findings.map(({ text }) => text)]).toEqual(["canary"]);
    const ended = await configPost(gateway, "canary/promote", { author: "Grace" });
    expect(ended).toMatchObject({ outcome: "promoted", reason: "Grace said so" });
    expect(await authorOf(began.generation ?? 0)).toEqual({ name: "Ada", from: "caller" });
  });

  it.each([["a\nb"], [""], [" "], ["x".repeat(101)], [7]])("is no %j", async (author) => {
    const response = await admin(gateway, "/config/reload", { author });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('"param":"author"');
  });
});

describe("the list", () => {
  it("is bounded by times", async () => {
    const numbers = async (query: string) => {
      const response = await admin(gateway, `/config/history${query}`);
      const { generations, attempts } = (await response.json()) as {
        generations: (Entry & { at: string })[];
        attempts: unknown[];
      };
      return {
        at: generations.map(({ at }) => at),
        ids: generations.map(({ generation }) => generation),
        attempts: attempts.length,
      };
    };
    const all = await numbers("");
    const third = all.at[all.ids.indexOf(3)] ?? "";
    expect((await numbers("?since=1h")).ids).toEqual(all.ids);
    expect(await numbers("?until=1h")).toMatchObject({ ids: [], attempts: 0 });
    expect((await numbers(`?since=${third}`)).ids).toEqual(all.ids.filter((id) => id >= 3));
    expect((await numbers(`?until=${third}`)).ids).toEqual(all.ids.filter((id) => id < 3));
    expect((await admin(gateway, "/config/history?since=soon")).status).toBe(400);
    const listed = (await command("history", "--since", "1h", "--until", third)).out;
    expect(listed.match(/^[* ]\d+/gm)).toEqual([" 2", " 1"]);
    expect((await command("history", "2", "--since", "1h")).code).toBe(2);
  });
});

describe("lines", () => {
  it("of a generation are those that it changed", async () => {
    const { code, out } = await command("history", "2", "--lines");
    expect(code).toBe(0);
    expect(out).toMatch(/^generation 2, digest [0-9a-f]{12}, at \S+: files by Ada\n/);
    expect(out).toContain("--- a/config/gateway.yaml\n+++ b/config/gateway.yaml\n@@ ");
    expect(out).toContain("\n+  - { id: two, targets: [{ provider: echo, model: echo }] }\n");
    expect(out).not.toMatch(/^-[^-]/m);
  });

  it("are compared between generations, the running one and the files, with their effects", async () => {
    const between = await command("diff", "2", "3", "--lines");
    expect(between.out).toMatch(/^-.*id: two.*\n\+.*id: three/m);
    expect(between.out).toMatch(/^danger +model two: is removed/m);
    save("one", "five", "six");
    const pending = await command("diff", "--lines");
    expect(pending.out).toMatch(/^\+.*id: six/m);
    await eventually(
      "the files to be what was saved",
      async () => (await configStatus(gateway)).drift.files_differ,
    );
    // What has findings has lines too.
    workspace.write("version: 1\nmodels: [\n");
    const broken = await command("diff", "--lines");
    expect([broken.code, /^\+models: \[$/m.test(broken.out)]).toEqual([1, true]);
    expect(broken.err).toContain("findings");
  });

  it("are listed without a secret, and hold none", async () => {
    const { files } = (await (await admin(gateway, "/config/files?of=2")).json()) as {
      readonly files: Record<string, string>;
    };
    expect(files["config/gateway.yaml"]).toContain("${env:OPENAI_API_KEY}");
    expect(JSON.stringify(files)).not.toContain("sk-upstream-credential");
    expect((await admin(gateway, "/config/files?of=2", undefined, "sk-unknown")).status).toBe(401);
  });

  it.each([
    [["history", "99"], /Generation 99 is not in the history, which holds /],
    [["history", "--lines"], /--lines is of one generation/],
    [["history", "first"], /It must be the number of a generation/],
    [["diff", "99", "--lines"], /Generation 99 is not in the history/],
    [["reload", "--author", ""], /The field author must be/],
  ])("%j says what is wrong", async (args, message) => {
    const { code, err, out } = await command(...args);
    expect(code).toBeGreaterThan(0);
    expect(err + out).toMatch(message);
  });
});
