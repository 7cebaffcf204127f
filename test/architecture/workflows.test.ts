/** The workflows in `.github`, and the checks of a release. */

import { globSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { changelogFaults, packageFaults } from "../release/faults.ts";
import { ROOT } from "./sources.ts";

interface Step {
  readonly run?: string;
  readonly uses?: string;
}

interface Job {
  readonly steps: readonly Step[];
  readonly services?: Readonly<Record<string, unknown>>;
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  readonly "timeout-minutes"?: number;
}

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const SCRIPT = /npm (?:run (?:-s |--silent )?([\w:-]+)|(test|start))\b/g;

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const paths = globSync(".github/workflows/*.yml", { cwd: ROOT }).sort();

it("npm runs no script of a dependency, and resolves no version of the last days", () => {
  const lines = readFileSync(join(ROOT, ".npmrc"), "utf8").trim().split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      "ignore-scripts=true",
      expect.stringMatching(/^min-release-age=[1-9]/),
    ]),
  );
});

function readWorkflow(path: string): Workflow {
  return parse(readFileSync(join(ROOT, path), "utf8")) as Workflow;
}

function commandsOf(workflow: Workflow): readonly string[] {
  return Object.values(workflow.jobs).flatMap(({ steps }) =>
    steps.flatMap(({ run }) => (run === undefined ? [] : [run])),
  );
}

function scriptsIn(commands: readonly string[]): readonly string[] {
  return commands.flatMap((command) =>
    [...command.matchAll(SCRIPT)].map(([, name, short]) => name ?? short ?? ""),
  );
}

describe("the workflows", () => {
  it("are those of tests and of releases", () => {
    expect(paths.map((path) => path.replace(/.*\//, ""))).toEqual(["release.yml", "test.yml"]);
  });

  it.each(paths)("%s runs scripts that exist, within a bound, and may read only", (path) => {
    const workflow = readWorkflow(path);
    const named = scriptsIn(commandsOf(workflow));
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    expect(Object.values(workflow.jobs).every((job) => (job["timeout-minutes"] ?? 0) > 0)).toBe(
      true,
    );
    expect(workflow.permissions).toEqual({ contents: "read" });
  });

  it("test on both lines of Node, with PostgreSQL and Redis", () => {
    const workflow = readWorkflow(".github/workflows/test.yml");
    const { test } = workflow.jobs;
    expect(test?.strategy?.matrix.node).toEqual(["22", "24"]);
    expect(Object.keys(test?.services ?? {})).toEqual(["postgres", "redis"]);
    // As test/system/support/postgres.ts connects: a suite that cannot is skipped.
    expect(test?.services?.["postgres"]).toMatchObject({
      env: { POSTGRES_DB: "test", POSTGRES_HOST_AUTH_METHOD: "trust" },
    });
    expect(commandsOf(workflow).join("\n")).toMatch(/apt-get install .*pgbouncer/);
    expect(scriptsIn(commandsOf(workflow))).toEqual(["test", "verify", "test:long"]);
    expect(commandsOf(workflow)[0]).toBe("npm ci");
  });

  it("check a release before anything else could be done with it", () => {
    expect(scriptsIn(commandsOf(readWorkflow(".github/workflows/release.yml")))).toContain(
      "release:check",
    );
    expect(scripts["release:check"]).toBe("node test/release/check.ts");
  });

  it("publish after the checks alone, without a token", () => {
    const { jobs } = readWorkflow(".github/workflows/release.yml");
    expect(jobs.publish).toMatchObject({
      needs: "check",
      environment: "npm",
      permissions: { contents: "read", "id-token": "write" },
    });
    expect(readFileSync(join(ROOT, ".github/workflows/release.yml"), "utf8")).not.toMatch(
      /secrets\.|registry/i,
    );
    const { status, stderr } = spawnSync(process.execPath, ["test/release/publish.ts"], {
      cwd: ROOT,
      encoding: "utf8",
      env: { ...process.env, GITHUB_ACTIONS: "" },
    });
    expect(status).toBe(2);
    expect(stderr).toContain("by the workflow release");
  });
});

describe("the checks of a release", () => {
  const changelog =
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-31\n\n### Added\n\n- A step.\n\n## [1.1.0]\n\n## [1.0.0] - 2026-01-01\n";
  const manifest = {
    name: "@sluice/a",
    version: "1.2.0",
    license: "Apache-2.0",
    exports: { ".": "./dist/index.js" },
  };
  const files = ["CHANGELOG.md", "LICENSE", "README.md", "package.json", "dist/index.js"];

  it("accept a version with a date and an entry, and a whole package", () => {
    expect(changelogFaults("v1.2.0", changelog)).toEqual([]);
    expect(packageFaults([{ manifest, files }])).toEqual([]);
  });

  it.each([
    ["next", "not a version"],
    ["1.3.0", "no section [1.3.0]"],
    ["1.1.0", "has no date"],
    ["1.0.0", "has no entry"],
  ])("refuse the changelog of version %s: %s", (version, fault) => {
    expect(changelogFaults(version, changelog).join()).toContain(fault);
  });

  it.each([
    [
      "without a licence file",
      { manifest, files: files.filter((name) => name !== "LICENSE") },
      "LICENSE is not in the package",
    ],
    [
      "under another licence",
      { manifest: { ...manifest, license: "MIT" }, files },
      "not Apache-2.0",
    ],
    [
      "without its entry point",
      { manifest, files: files.slice(0, 4) },
      "names dist/index.js, which is not in the package",
    ],
    [
      "with a test",
      { manifest, files: [...files, "dist/a.test.js"] },
      "the test dist/a.test.js is in the package",
    ],
  ])("refuse a package %s", (_what, packed, fault) => {
    expect(packageFaults([packed]).join()).toContain(fault);
  });

  it("refuse a package that does not accept another one of the release", () => {
    const other = { ...manifest, name: "@sluice/b", dependencies: { "@sluice/a": "^1.3.0" } };
    expect(
      packageFaults([
        { manifest, files },
        { manifest: other, files },
      ]).join(),
    ).toContain("does not accept 1.2.0");
  });
});
