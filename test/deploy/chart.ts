/**
 * Renders the chart of `deploy/helm` with the program in `render`. It needs Go and two of its
 * libraries, from Debian's packages (`GO_PACKAGES`).
 */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";

export const ROOT = join(import.meta.dirname, "../..");
export const CHART = join(ROOT, "deploy/helm/sluice");
/** Debian's packages that the program needs. */
export const GO_PACKAGES = "golang-go golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev";

const GO_PATH = "/usr/share/gocode";
const LIBRARIES = ["github.com/Masterminds/sprig", "sigs.k8s.io/yaml"];
const RELEASE = "gateway";
const NAMESPACE = "models";
const NOTES = "---NOTES---\n";

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [member: string]: unknown;
}

export interface Rendered {
  readonly objects: readonly KubernetesObject[];
  /** The documents as text. */
  readonly text: string;
  readonly notes: string;
}

/** Whether charts can be rendered on this machine. */
export function canRender(): boolean {
  return (
    spawnSync("go", ["version"]).status === 0 &&
    LIBRARIES.every((name) => existsSync(join(GO_PATH, "src", name)))
  );
}

/** Compiles the program. Returns what renders the chart with values; it throws Helm's message. */
export function createRenderer(): (values?: object) => Rendered {
  const folder = join(ROOT, "node_modules/.cache/chart");
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "render");
  execFileSync("go", ["build", "-o", program, "."], {
    cwd: join(import.meta.dirname, "render"),
    env: { ...process.env, GO111MODULE: "off", GOPATH: GO_PATH, GOFLAGS: "" },
  });
  return (values = {}) => {
    const { status, stdout, stderr } = spawnSync(program, [CHART, RELEASE, NAMESPACE], {
      input: JSON.stringify(values),
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(stderr);
    const [text = "", notes = ""] = stdout.split(NOTES);
    const objects = parseAllDocuments(text).map(
      (document) => document.toJS() as KubernetesObject | null,
    );
    return { objects: objects.filter((object) => object !== null), text, notes };
  };
}
