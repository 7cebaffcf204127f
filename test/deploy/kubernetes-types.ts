/**
 * Checks Kubernetes objects against the types of the Kubernetes API: each object becomes a literal
 * of its type, and the TypeScript compiler reports members that the type lacks.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type KubernetesObject, ROOT } from "./chart.ts";

/** Module and type of each kind. */
const TYPES: Readonly<Record<string, readonly [module: string, type: string]>> = {
  "v1 ConfigMap": ["core/v1", "ConfigMap"],
  "v1 Service": ["core/v1", "Service"],
  "v1 ServiceAccount": ["core/v1", "ServiceAccount"],
  "apps/v1 Deployment": ["apps/v1", "Deployment"],
  "apps/v1 StatefulSet": ["apps/v1", "StatefulSet"],
  "batch/v1 Job": ["batch/v1", "Job"],
  "autoscaling/v2 HorizontalPodAutoscaler": ["autoscaling/v2", "HorizontalPodAutoscaler"],
  "networking.k8s.io/v1 Ingress": ["networking/v1", "Ingress"],
  "networking.k8s.io/v1 NetworkPolicy": ["networking/v1", "NetworkPolicy"],
  "policy/v1 PodDisruptionBudget": ["policy/v1", "PodDisruptionBudget"],
};

/** Kinds of extensions, whose types the Kubernetes API does not have. */
const EXTENSIONS: ReadonlySet<string> = new Set([
  "monitoring.coreos.com/v1 ServiceMonitor",
  "gateway.networking.k8s.io/v1 HTTPRoute",
]);

/** What the compiler reports about the objects; empty where all are valid. */
export function typeFaults(objects: readonly KubernetesObject[]): string {
  const lines = objects.flatMap((object, index) => {
    const kind = `${object.apiVersion} ${object.kind}`;
    if (EXTENSIONS.has(kind)) return [];
    const [module, type] = TYPES[kind] ?? [];
    if (module === undefined) throw new Error(`No type is known for ${kind}; add it to TYPES.`);
    return [
      `import type { ${type} as T${index} } from "kubernetes-types/${module}.js";`,
      `export const o${index}: T${index} = ${JSON.stringify(object)};`,
    ];
  });
  const parent = join(ROOT, "node_modules/.cache/chart");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "types-"));
  try {
    const file = join(folder, "objects.ts");
    writeFileSync(file, lines.join("\n"));
    const compiler = join(ROOT, "node_modules/.bin/tsc");
    const options = "--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext".split(" ");
    return spawnSync(compiler, [...options, file], { encoding: "utf8" }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
