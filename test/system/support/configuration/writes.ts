/** Edits of the files over the admin listener, the same for one process and for several workers. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { AdminAnswer } from "@sluice/admin-api";
import { createUpstream, type Upstream } from "@sluice/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { admin, chat, configStatus } from "../client.ts";
import {
  type GatewayProcess,
  MASTER_KEY,
  startGateway,
  startOwnProcess,
} from "../gateway-process.ts";
import { createWorkspace, type Workspace } from "../workspace.ts";

type Files = AdminAnswer<"GET /config/files">;
type Written = AdminAnswer<"PUT /config/files">;
type Tested = AdminAnswer<"POST /config/test">;

interface Reply<Body> {
  readonly status: number;
  readonly body: Body & {
    readonly error?: { readonly message: string; readonly param: string | null };
    readonly digest?: string;
    readonly files?: unknown;
  };
}

const GATEWAY = "config/gateway.yaml";
const CHAT = "pipelines/chat.yaml";
const ADDED = "  - { id: added, targets: [{ provider: echo, model: echo }] }\n";

/** The tests with a number of workers and `server.reload`. Call it in a `describe`. */
export function writeTests(workers: 1 | 2, reload: "on_save" | "on_request"): void {
  let upstream: Upstream;
  let workspace: Workspace;
  let gateway: GatewayProcess;
  let headers: Record<string, string>;

  beforeAll(async () => {
    upstream = await createUpstream();
    workspace = createWorkspace({
      baseUrl: upstream.baseUrl,
      server: `workers: ${workers}, reload: ${reload}, name: tests, admin: { editor: write }`,
    });
    gateway = await (workers === 1 ? startGateway : startOwnProcess)(workspace);
    headers = await signIn();
  }, 120_000);
  afterAll(async () => {
    await gateway?.dispose();
    await upstream?.close();
  });

  const origin = () => new URL(gateway.adminUrl).origin;

  async function signIn(): Promise<Record<string, string>> {
    const page = { origin: origin(), "content-type": "application/json" };
    const answer = await fetch(`${gateway.adminUrl}/ui/session`, {
      method: "POST",
      headers: page,
      body: JSON.stringify({ key: MASTER_KEY }),
    });
    const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
    const { csrf } = (await answer.json()) as { readonly csrf: string };
    return { ...page, cookie, "x-sluice-csrf": csrf };
  }

  async function send<Body>(
    method: string,
    path: string,
    body: object,
    how: Record<string, string> = headers,
  ): Promise<Reply<Body>> {
    const answer = await fetch(`${gateway.adminUrl}${path}`, {
      method,
      headers: how,
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Reply<Body>["body"] };
  }
  const bearer = { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" };
  const put = (body: object, how?: Record<string, string>) =>
    send<Written>("PUT", "/config/files", body, how);
  const present = async (): Promise<Files> =>
    (await (await admin(gateway, "/config/files?of=files")).json()) as Files;
  const onDisk = (name: string): string => readFileSync(join(workspace.folder, name), "utf8");
  const generation = async (): Promise<number> =>
    (await configStatus(gateway)).live?.generation ?? 0;
  const asks = async (model: string): Promise<number> =>
    (await chat(gateway, { model, messages: [{ role: "user", content: "Hello" }] })).status;

  it("writes, applies and records an edit, which every request gets at once", async () => {
    const before = await present();
    expect(before.editor).toBe("write");
    expect(await asks("added")).toBe(404);
    const edit = { files: { [GATEWAY]: `${before.files[GATEWAY]}${ADDED}` }, base: before.digest };
    const { status, body } = await put({ ...edit, author: "ada" });
    expect([status, body]).toMatchObject([
      200,
      { outcome: "applied", files: "written", author: "ada", findings: [] },
    ]);
    expect(onDisk(GATEWAY)).toBe(edit.files[GATEWAY]);
    expect(body.files_digest).toBe((await present()).digest);
    for (let index = 0; index < 4; index += 1) expect(await asks("added")).toBe(200);
    const status2 = await configStatus(gateway);
    expect(status2).toMatchObject({ name: "tests", drift: { files_differ: false } });
    expect(
      readdirSync(join(workspace.folder, "config")).filter((name) => name.includes("tmp")),
    ).toEqual([]);
    const audit = await (await admin(gateway, "/audit?limit=5")).text();
    expect(audit).toContain("config.write");
    expect(audit).toContain("ada");
    const made = body.workers?.map((worker) => worker.generation) ?? [body.generation];
    expect(new Set(made)).toEqual(new Set([body.generation]));
  });

  it("applies once what is sent twice, at the same moment or later", async () => {
    const before = await present();
    const from = await generation();
    const text = before.files[GATEWAY]?.replace("id: added", "id: twice") ?? "";
    const edit = { files: { [GATEWAY]: text }, base: before.digest };
    const answers = await Promise.all([put(edit, bearer), put(edit, bearer)]);
    answers.push(await put(edit, bearer));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ body }) => body.outcome).toSorted()).toEqual([
      "applied",
      "unchanged",
      "unchanged",
    ]);
    expect(await generation()).toBe(from + 1);
  });

  it("refuses an edit of files that have changed, with the files as they are", async () => {
    const before = await present();
    const theirs = `${before.files[CHAT]}# theirs\n`;
    expect((await put({ files: { [CHAT]: theirs }, base: before.digest })).body.files).toBe(
      "written",
    );
    const ours = `${before.files[CHAT]}# ours\n`;
    const { status, body } = await put({ files: { [CHAT]: ours }, base: before.digest });
    expect(status).toBe(409);
    expect(body.files).toMatchObject({ [CHAT]: theirs });
    expect(body.digest).toBe((await present()).digest);
    expect(onDisk(CHAT)).toBe(theirs);
  });

  it("writes nothing where there is a finding, and nothing where a test fails", async () => {
    const before = await present();
    const from = await generation();
    const faulty = { [CHAT]: before.files[CHAT]?.replace("- guardrails", "- guardrale") };
    const found = await put({ files: faulty, base: before.digest });
    expect(found).toMatchObject({ status: 200, body: { outcome: "refused", files: "put_back" } });
    expect(found.body.findings[0]).toMatchObject({ file: CHAT, line: expect.any(Number) });
    const failing = { [CHAT]: before.files[CHAT]?.replace("text: From b.", "text: From c.") };
    const failed = await put({ files: failing, base: before.digest });
    expect(failed.body).toMatchObject({ outcome: "refused", files: "put_back" });
    expect(failed.body.findings[0]?.message).toContain("fails");
    expect((await present()).digest).toBe(before.digest);
    expect(await generation()).toBe(from);
    const tested = await send<Tested>("POST", "/config/test", { files: failing });
    expect(tested.body.outcome).toBe("failed");
    expect(tested.body.tests.filter(({ outcome }) => outcome === "failed")).toHaveLength(1);
    expect((await send<Tested>("POST", "/config/test", {})).body).toMatchObject({
      outcome: "passed",
      findings: [],
    });
  });

  it("writes several files or none of them", async () => {
    const before = await present();
    const files = {
      [GATEWAY]: `${before.files[GATEWAY]}# both\n`,
      "pipelines/second.yaml": before.files[CHAT]
        ?.replace("pipeline: chat", "pipeline: second")
        .replace(/routes:\n(?: {2}.*\n)+/, "routes:\n  - POST /second/chat\n")
        .replace(/tests:[^]*?(?=end_of_config)/, ""),
    };
    const broken = { ...files, "pipelines/third.yaml": "pipeline: [" };
    expect((await put({ files: broken, base: before.digest })).body.outcome).toBe("refused");
    expect(existsSync(join(workspace.folder, "pipelines/second.yaml"))).toBe(false);
    expect((await put({ files, base: before.digest }, bearer)).body).toMatchObject({
      outcome: "applied",
      findings: [],
    });
    expect(onDisk(GATEWAY)).toContain("# both");
    const now = await present();
    const gone = await put({ files: { "pipelines/second.yaml": null }, base: now.digest }, bearer);
    // The route goes: the shrink guard may ask for the digest, and nothing is removed until then.
    if (gone.body.outcome === "refused") {
      const force =
        /--force ([0-9a-f]+)/.exec(gone.body.findings[0]?.text ?? "")?.[1] ?? gone.body.digest;
      await put({ files: { "pipelines/second.yaml": null }, base: now.digest, force }, bearer);
    }
    expect(existsSync(join(workspace.folder, "pipelines/second.yaml"))).toBe(false);
  });

  it("takes no name but those of the list, and follows no link", async () => {
    const before = await present();
    const outside = join(workspace.folder, "outside.yaml");
    writeFileSync(outside, "outside: true\n");
    mkdirSync(join(workspace.folder, "pipelines/deeper"), { recursive: true });
    for (const name of [
      "../outside.yaml",
      "outside.yaml",
      outside,
      "config/../outside.yaml",
      "./config/gateway.yaml",
      "config//gateway.yaml",
      "CONFIG/gateway.yaml",
      "config/Gateway.yaml",
      "config/gateway.yaml\u0000",
      "config/other.yaml",
      "pipelines/../outside.yaml",
      "pipelines/deeper/a.yaml",
      "pipelines/.hidden.yaml",
      "pipelines/chat.yaml/",
      "pipelines/%2e%2e/outside.yaml",
      "pipelines\\..\\outside.yaml",
      "pipelines/run.sh",
      "",
    ]) {
      const answer = await put({ files: { [name]: "version: 1\n" }, base: before.digest }, bearer);
      expect([name, answer.status, answer.body.error?.param]).toEqual([name, 400, "files"]);
    }
    expect((await put({ files: { [GATEWAY]: null }, base: before.digest }, bearer)).status).toBe(
      400,
    );
    expect(readFileSync(outside, "utf8")).toBe("outside: true\n");
    const link = join(workspace.folder, "pipelines/linked.yaml");
    symlinkSync(outside, link);
    const now = await present();
    const answer = await put(
      { files: { "pipelines/linked.yaml": "version: 1\n" }, base: now.digest },
      bearer,
    );
    rmSync(link);
    rmSync(join(workspace.folder, "pipelines/deeper"), { recursive: true });
    expect(answer.status).toBe(403);
    expect(readFileSync(outside, "utf8")).toBe("outside: true\n");
  });

  it("asks for the key again where an edit moves credentials or lets more in", async () => {
    const before = await present();
    const text = before.files[GATEWAY] ?? "";
    const edits = {
      address: text.replace(upstream.baseUrl, "http://127.0.0.1:9/elsewhere"),
      policy: `${text}policies: { lints: { weak_key: "off" } }\n`,
      reference: text.replace("id: twice", 'id: "${env:OPENAI_API_KEY}"'),
    };
    for (const [name, edited] of Object.entries(edits)) {
      expect([name, edited]).not.toEqual([name, text]);
      const edit = { files: { [GATEWAY]: edited }, base: before.digest };
      const asked = await put(edit);
      expect([name, asked.status]).toEqual([name, 403]);
      expect(asked.body.error?.message).toContain("needs the key again");
      expect((await send("POST", "/config/test", { files: edit.files })).status).toBe(403);
    }
    expect((await present()).digest).toBe(before.digest);
    const stolen = text.replace("id: twice", 'id: "${env:SLUICE_MASTER_KEY}"');
    const refused = await put({ files: { [GATEWAY]: stolen }, base: before.digest }, bearer);
    expect(refused.body.findings[0]?.message).toContain("a secret of the gateway itself");
    expect(JSON.stringify(refused.body)).not.toContain(MASTER_KEY);
    const read = text.replace("id: twice", 'id: "${file:../data/secret}"');
    const unread = await put({ files: { [GATEWAY]: read }, base: before.digest }, bearer);
    expect(unread.body.findings[0]?.message).toContain("in none of the folders of secrets");

    const entered = await send<{ readonly confirmation: string }>("POST", "/ui/key", {
      key: MASTER_KEY,
    });
    const confirmed = { ...headers, "x-sluice-confirmation": entered.body.confirmation };
    const edit = { files: { [GATEWAY]: edits.policy }, base: before.digest };
    expect((await put(edit, { ...headers, "x-sluice-confirmation": "1.x" })).status).toBe(403);
    expect((await put(edit, confirmed)).body).toMatchObject({ outcome: "applied" });
  });

  it("does not grant itself the right to write, nor take it from others", async () => {
    const before = await present();
    const text = before.files[GATEWAY]?.replace("editor: write", "editor: off") ?? "";
    const { body } = await put({ files: { [GATEWAY]: text }, base: before.digest }, bearer);
    expect(body).toMatchObject({ outcome: "refused", files: "put_back" });
    expect(body.findings[0]?.message).toContain("server.admin.editor cannot change");
  });

  it.skipIf(!canMount())("says where the files cannot be written", async () => {
    const folder = join(workspace.folder, "pipelines");
    execFileSync("mount", ["--bind", folder, folder]);
    try {
      execFileSync("mount", ["-o", "remount,ro,bind", folder]);
      const before = await present();
      const edit = { files: { [CHAT]: `${before.files[CHAT]}# more\n` }, base: before.digest };
      const { status, body } = await put(edit);
      expect([status, body.error?.message]).toEqual([
        403,
        expect.stringMatching(/chat\.yaml cannot be written: .*read-only.*Nothing was changed/),
      ]);
    } finally {
      execFileSync("umount", [folder]);
    }
  });

  const canaryEdit = async () => {
    const before = await present();
    const text = `${before.files[GATEWAY]}# a canary\n`.replace("id: twice", "id: thrice");
    const canary = { share: "50%", for: "10m" };
    return { files: { [GATEWAY]: text }, base: before.digest, canary };
  };

  it.runIf(reload === "on_request")("begins a canary with an edit", async () => {
    const edit = await canaryEdit();
    const { body } = await put(edit, bearer);
    expect(body).toMatchObject({ outcome: "canary", files: "written" });
    expect((await put(edit, bearer)).body).toMatchObject({ outcome: "canary", files: "unchanged" });
    expect(await configStatus(gateway)).toMatchObject({ canary: { generation: body.generation } });
    expect((await admin(gateway, "/config/canary/abort", {})).status).toBe(200);
  });

  it.runIf(reload === "on_save")("begins no canary, because a saved file applies", async () => {
    const edit = await canaryEdit();
    const { status, body } = await put(edit, bearer);
    expect([status, body.error?.param]).toEqual([400, "canary"]);
    expect((await present()).digest).toBe(edit.base);
  });
}

/** Whether this process may make a folder read-only for all. */
function canMount(): boolean {
  try {
    execFileSync("unshare", ["-m", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
