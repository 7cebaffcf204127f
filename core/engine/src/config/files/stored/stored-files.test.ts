import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { definition, definitions as common, type Files, TestFolder } from "../../load.fixture.ts";
import { formatFinding } from "../../finding.ts";
import { openConfig, resolveSnapshot } from "../../load.ts";
import type { Environment } from "../references.ts";
import { StoredFiles } from "./stored-files.ts";

const definitions = new Map(common);
definitions.set("store/postgres", definition("store", "postgres"));

const MACHINE = [
  "version: 1",
  'server: { port: 4000, data_directory: "${env:DATA}" }',
  "store: { use: postgres }",
  "config: { source: postgres, secrets: [secrets] }",
  "",
].join("\n");
const PUSHED: Files = {
  "gateway.yaml":
    'version: 1\nproviders:\n  openai: { use: openai, api_key: "${env:OPENAI_API_KEY}" }\n  echo: { use: echo }\nmodels:\n  - { id: echo, targets: [{ provider: echo, model: echo }] }\nend_of_config: true\n',
  "pipelines/chat.yaml":
    "version: 1\npipeline: chat\nroutes: [POST /v1/chat/completions]\noperation: chat\nsteps: [auth, provider]\n",
};
const ENVIRONMENT = { DATA: "data", OPENAI_API_KEY: "sk" };

/** What a machine makes of files in the store. */
function load(pushed: Files, machine = MACHINE, environment: Environment = ENVIRONMENT) {
  using folder = new TestFolder({ "config/gateway.yaml": machine, "config/secrets/key": "sk-x" });
  const stored = new StoredFiles(join(folder.path, "config/gateway.yaml"), 7, pushed);
  const place = { path: "config/gateway.yaml", cwd: folder.path, environment };
  const opened = openConfig({ ...place, source: stored.source, isStored: true });
  const { snapshot, findings } = resolveSnapshot(opened, definitions);
  return { opened, snapshot, findings: findings.map(formatFinding) };
}

const withGateway = (text: string): Files => ({ ...PUSHED, "gateway.yaml": text });

describe("a configuration in the store", () => {
  it("is one with the sections of the machine, and each place is found in its own part", () => {
    const { snapshot, opened, findings } = load(PUSHED);
    expect(findings).toEqual([]);
    expect(snapshot?.server.port).toBe(4000);
    expect(snapshot?.configSource).toMatchObject({ source: "postgres", secrets: ["secrets"] });
    expect(snapshot?.models.map(({ id }) => id)).toEqual(["echo"]);
    expect(snapshot?.pipelines.map(({ name }) => name)).toEqual(["chat"]);
    expect(snapshot?.store.at).toEqual({ file: "config/gateway.yaml", line: 3, column: 1 });
    expect(snapshot?.models[0]?.at.file).toBe("store:gateway.yaml");
    expect(snapshot?.files.map(({ hasEndMark }) => hasEndMark)).toEqual([true, false]);
    expect(opened.isElsewhere).toBe(false);
  });

  it("has one digest of contents on machines that differ, and other ones of values", () => {
    const one = load(PUSHED).snapshot;
    const other = load(PUSHED, MACHINE.replace("4000", "4100"), { ...ENVIRONMENT, DATA: "d" });
    expect(other.snapshot?.contents).toBe(one?.contents);
    expect(other.snapshot?.digest).not.toBe(one?.digest);
    const edited = load(withGateway(`${PUSHED["gateway.yaml"] ?? ""}# x\n`)).snapshot;
    expect(edited?.contents).not.toBe(one?.contents);
  });

  it("has findings where a section is in the wrong part", () => {
    const text = PUSHED["gateway.yaml"]?.replace(
      "version: 1\n",
      'version: 1\nplugins: ["x"]\nstore: { use: sqlite }\n',
    );
    expect(load(withGateway(text ?? "")).findings).toEqual([
      "store:gateway.yaml:2:1  `plugins` stands in the pushed configuration, and is each machine's own  remove it there; it belongs to the gateway file of each machine",
      "store:gateway.yaml:3:1  `store` stands in the pushed configuration, and is each machine's own  remove it there; it belongs to the gateway file of each machine",
    ]);
    expect(load(PUSHED, `${MACHINE}models: []\n`).findings).toEqual([
      "config/gateway.yaml:5:1  `models` stands in the file of this machine, and the configuration is in the store (config.source: postgres)  move it to the files that `sluice push` sends",
    ]);
    expect(load(PUSHED, MACHINE.replace("use: postgres", "use: sqlite")).findings).toEqual([
      "config/gateway.yaml:4:19  `config.source` is postgres, and the store is sqlite  write `store: { use: postgres, url: … }`, or remove `config`",
    ]);
  });

  it("names no secret of the gateway, and no file outside of the folders of secrets", () => {
    const referring = (reference: string): readonly string[] =>
      load(
        withGateway((PUSHED["gateway.yaml"] ?? "").replace("${env:OPENAI_API_KEY}", reference)),
        MACHINE,
        { ...ENVIRONMENT, SLUICE_MASTER_KEY: "sk-master" },
      ).findings;
    expect(referring("${file:secrets/key}")).toEqual([]);
    for (const reference of ["${env:SLUICE_MASTER_KEY}", "${env:SLUICE_ANY:-x}", "${env:DATA}"])
      expect(referring(reference).join()).toContain("is a secret of the gateway itself");
    for (const reference of [
      "${file:data/pepper}",
      "${file:secrets/../../data/pepper}",
      "${file:/proc/self/environ}",
      "${file:secrets}",
      "${file:../config/gateway.yaml}",
    ])
      expect(referring(reference).join()).toContain("is in none of the folders of secrets");
  });

  it("has findings for what is missing, and never reads the file of the machine in its place", () => {
    const { findings } = load({ "pipelines/chat.yaml": PUSHED["pipelines/chat.yaml"] ?? "" });
    expect(findings.join("\n")).toContain("store:gateway.yaml:1:1");
  });

  it("is not known to a command that does not ask the store", () => {
    using folder = new TestFolder({ "config/gateway.yaml": MACHINE });
    const place = { path: "config/gateway.yaml", cwd: folder.path, environment: ENVIRONMENT };
    const { isElsewhere, gateway, own } = openConfig(place);
    expect([isElsewhere, own?.document.file]).toEqual([true, "config/gateway.yaml"]);
    expect(gateway?.value).toMatchObject({ store: { use: "postgres" }, models: [{ id: "echo" }] });
  });
});
