/** The chart of `deploy/helm`: what it renders, and which values it refuses. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkConfig, formatFinding } from "@sluice/engine";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CHART, canRender, createRenderer, type KubernetesObject, ROOT } from "./chart.ts";
import { typeFaults } from "./kubernetes-types.ts";
import { MANIFESTS, manifestText, NEEDED } from "./manifests.ts";

interface Pod {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly terminationGracePeriodSeconds: number;
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly containers: readonly {
      readonly image: string;
      readonly env: readonly { readonly name: string }[];
      readonly securityContext: Readonly<Record<string, unknown>>;
      readonly livenessProbe: { readonly httpGet: { readonly scheme: string } };
      readonly volumeMounts: readonly { readonly mountPath: string; readonly readOnly?: boolean }[];
    }[];
  };
}

interface Job {
  readonly metadata: {
    readonly name: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly volumes: readonly object[] };
    };
  };
}

const defaults = parse(readFileSync(join(CHART, "values.yaml"), "utf8")) as object;
const schema = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8")) as object;
const accepts = new Ajv({ strict: false }).compile(schema);

/** A gateway file whose store several replicas share. */
const POSTGRES = {
  version: 1,
  store: { use: "postgres", url: "${env:DATABASE_URL}" },
  providers: { echo: { use: "echo" } },
  models: [{ id: "echo", targets: [{ provider: "echo", model: "echo" }] }],
};

/** Every option that the chart has, at a value other than its default. */
const EVERYTHING = {
  replicas: 3,
  migration: { enabled: true },
  config: {
    gateway: POSTGRES,
    rollout: "restart",
    pipelines: { "chat.yaml": "version: 1\nroutes: []\n" },
  },
  masterKey: { existingSecret: "keys" },
  readKey: { existingSecret: "keys" },
  pepper: { existingSecret: "keys" },
  tls: { existingSecret: "certificate" },
  image: { digest: `sha256:${"a".repeat(64)}` },
  imagePullSecrets: [{ name: "registry" }],
  env: [{ name: "OPENAI_API_KEY", valueFrom: { secretKeyRef: { name: "openai", key: "key" } } }],
  envFrom: [{ secretRef: { name: "providers" } }],
  persistence: { storageClassName: "fast", annotations: { backup: "daily" } },
  service: { annotations: { a: "b" } },
  admin: { annotations: { a: "b" } },
  serviceAccount: { annotations: { a: "b" } },
  podAnnotations: { a: "b" },
  podLabels: { a: "b" },
  nodeSelector: { disk: "ssd" },
  tolerations: [{ key: "a", operator: "Exists" }],
  affinity: { podAntiAffinity: {} },
  priorityClassName: "high",
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" },
  ],
  networkPolicy: {
    enabled: true,
    clientsFrom: [{ namespaceSelector: {} }],
    adminFrom: [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }],
    egress: [{ ports: [{ port: 6379 }] }],
  },
  autoscaling: { enabled: true },
  serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
  ingress: { enabled: true, className: "nginx", host: "models.example.com", tlsSecret: "web" },
  httpRoute: { enabled: true, parentRefs: [{ name: "edge" }], hostnames: ["models.example.com"] },
};

function kindsOf(objects: readonly KubernetesObject[]): readonly string[] {
  return objects.map(({ kind }) => kind).sort();
}

function podOf(objects: readonly KubernetesObject[]): Pod {
  const workload = objects.find(({ kind }) => kind === "StatefulSet" || kind === "Deployment");
  return (workload as unknown as { readonly spec: { readonly template: Pod } }).spec.template;
}

describe("values.schema.json", () => {
  it("accepts the defaults and every option", () => {
    for (const values of [defaults, EVERYTHING]) {
      accepts(values);
      expect(accepts.errors).toBeNull();
    }
  });

  it("knows exactly the values that exist, at every depth", () => {
    const unknown: string[] = [];
    const compare = (place: string, values: object, described: Described): void => {
      const { properties } = deref(described);
      if (properties === undefined || place === ".config.gateway") return;
      const names = new Set([...Object.keys(values), ...Object.keys(properties)]);
      for (const name of names) {
        const value = (values as Record<string, unknown>)[name];
        const known = properties[name];
        if (value === undefined || known === undefined) {
          if (name !== "global" && name !== "claims") unknown.push(`${place}.${name}`);
        } else if (typeof value === "object" && value !== null && !Array.isArray(value))
          compare(`${place}.${name}`, value, known);
      }
    };
    compare("", defaults, schema as Described);
    expect(unknown.filter((name) => !/^(?:\.migration)?\.resources\./.test(name))).toEqual([]);
  });

  it.each([
    [{ replica: 2 }],
    [{ image: { tags: "1" } }],
    [{ image: { digest: "sha256:1" } }],
    [{ drain: { delay: "ten" } }],
    [{ service: { port: 0 } }],
    [{ config: { rollout: "hot" } }],
    [{ config: { gateway: { version: 2 } } }],
    [{ config: { pipelines: { "../chat.yaml": "" } } }],
    [{ persistence: { size: "10 GB" } }],
    [{ persistence: { accessModes: [] } }],
    [{ podLabels: { "app.kubernetes.io/name": "other" } }],
    [{ serviceMonitor: { labels: { "app.kubernetes.io/instance": "other" } } }],
    [{ env: [{ name: "SLUICE_MASTER_KEY", value: "in the values" }] }],
    [{ env: [{ name: "SLUICE_ADMIN_PORT", value: "4000" }] }],
    [{ env: [{ name: "NODE_OPTIONS", value: "--inspect=0.0.0.0" }] }],
    [{ admin: { port: 4000 } }],
    [{ nameOverride: "A_b" }],
    [{ fullnameOverride: "models-" }],
    [{ migration: { deadline: "ten" } }],
    [{ migration: { backoffLimit: -1 } }],
  ])("refuses %j", (values) => {
    expect(accepts(values)).toBe(false);
  });

  interface Described {
    readonly $ref?: string;
    readonly properties?: Readonly<Record<string, Described>>;
  }

  function deref(described: Described): Described {
    const name = described.$ref?.replace("#/definitions/", "");
    const { definitions } = schema as { readonly definitions: Readonly<Record<string, Described>> };
    return name === undefined ? described : (definitions[name] ?? {});
  }
});

describe.skipIf(!canRender())("the chart, rendered", () => {
  const render = createRendererLater();

  it("has a pod that may do nothing but serve, and a volume", () => {
    const { objects, notes } = render();
    expect(kindsOf(objects)).toEqual([
      "ConfigMap",
      "Service",
      "Service",
      "ServiceAccount",
      "StatefulSet",
    ]);
    const pod = podOf(objects);
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      terminationGracePeriodSeconds: 10 + 120 + 20,
    });
    const [container] = pod.spec.containers;
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(notes).not.toContain("WARNING");
  });

  it("is valid for the Kubernetes API, with its defaults and with every option", () => {
    const { objects } = render(EVERYTHING);
    expect(kindsOf(objects)).toEqual([
      "ConfigMap",
      "ConfigMap",
      "HTTPRoute",
      "HorizontalPodAutoscaler",
      "Ingress",
      "Job",
      "NetworkPolicy",
      "PodDisruptionBudget",
      "Service",
      "Service",
      "ServiceAccount",
      "ServiceMonitor",
      "StatefulSet",
    ]);
    const stateless = render({ persistence: { enabled: false } });
    expect(kindsOf(stateless.objects)).toContain("Deployment");
    expect(stateless.notes).toContain("persistence.enabled is false");
    expect(typeFaults([...render().objects, ...objects, ...stateless.objects])).toBe("");
    const spoilt = { ...objects.find(({ kind }) => kind === "Service"), spec: { port: [] } };
    expect(typeFaults([spoilt as unknown as KubernetesObject])).toContain('"port"');
  });

  it("serves HTTPS, and is asked for it, with a certificate", () => {
    const pod = podOf(render({ tls: { existingSecret: "certificate" } }).objects);
    expect(pod.spec.containers[0]?.livenessProbe.httpGet.scheme).toBe("HTTPS");
    expect(pod.spec.containers[0]?.volumeMounts).toContainEqual({
      name: "tls",
      mountPath: "/tls",
      readOnly: true,
    });
  });

  it("replaces pods after an edit with rollout: restart alone", () => {
    const checksum = (rollout: string, version: string): string | undefined =>
      podOf(render({ config: { rollout, pipelines: { "chat.yaml": version } } }).objects).metadata
        .annotations?.["checksum/config"];
    expect(checksum("reload", "a")).toBeUndefined();
    expect(checksum("restart", "a")).toBeDefined();
    expect(checksum("restart", "a")).not.toBe(checksum("restart", "b"));
    expect(checksum("restart", "a")).toBe(checksum("restart", "a"));
  });

  it("mounts all files of the configuration from one object", () => {
    const { objects } = render({ config: { pipelines: { "chat.yaml": "version: 1\n" } } });
    const config = objects.find(({ kind }) => kind === "ConfigMap") as unknown as {
      readonly data: Readonly<Record<string, string>>;
    };
    expect(Object.keys(config.data).sort()).toEqual(["gateway.yaml", "pipelines.chat.yaml"]);
    expect(config.data["pipelines.chat.yaml"]).toBe("version: 1\n");
    expect(parse(config.data["gateway.yaml"] ?? "")).toMatchObject({
      server: { host: "0.0.0.0", data_directory: "/data" },
      models: [{ id: "echo" }],
    });
  });

  it.each([
    ["its defaults", {}],
    ["every option but files", { ...EVERYTHING, config: { gateway: POSTGRES }, tls: {} }],
  ])("gives the gateway a whole configuration with %s", async (_what, values) => {
    const { objects } = render(values);
    const config = objects.find(({ kind }) => kind === "ConfigMap") as unknown as {
      readonly data: Readonly<Record<string, string>>;
    };
    const folder = mkdtempSync(join(tmpdir(), "sluice-chart-"));
    try {
      writeFileSync(join(folder, "gateway.yaml"), config.data["gateway.yaml"] ?? "");
      const { findings } = await checkConfig({
        path: join(folder, "gateway.yaml"),
        cwd: ROOT,
        environment: { SLUICE_READ_KEY: "k".repeat(24), DATABASE_URL: "postgres://db/sluice" },
      });
      expect(findings.map((finding) => formatFinding(finding))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each([
    [{ masterKey: { existingSecret: "" } }, "kubectl create secret generic sluice"],
    [{ serviceMonitor: { enabled: true } }, "readKey.existingSecret"],
    [{ ingress: { enabled: true } }, "ingress.host is missing"],
    [{ httpRoute: { enabled: true } }, "httpRoute.parentRefs is missing"],
    [
      { config: { gateway: { version: 1, server: { port: 8080 } } } },
      "config.gateway.server.port is set by the chart",
    ],
    [
      { config: { gateway: { version: 1, server: { admin: { port: 8080 } } } } },
      "config.gateway.server.admin.port is set by the chart",
    ],
    [
      { config: { gateway: { version: 1, server: { admin: false } } } },
      "config.gateway.server.admin is not a map",
    ],
    [{ autoscaling: { enabled: true, minReplicas: 20 } }, "minReplicas exceeds"],
    [
      { config: { existingConfigMap: "own", pipelines: { "chat.yaml": "" } } },
      "config.pipelines has no effect",
    ],
    [{ config: { existingConfigMap: "own", rollout: "restart" } }, "sees no edit"],
    [{ migration: { enabled: true } }, "needs config.gateway.store with use: postgres"],
  ])("refuses %j: %s", (values, message) => {
    expect(() => render(values)).toThrow(message);
  });

  it("warns about replicas with a store each, and allows one of them to be away", () => {
    const { objects, notes } = render({ replicas: 2 });
    expect(notes).toContain("2 replicas have a store each");
    expect(kindsOf(objects)).toContain("PodDisruptionBudget");
    expect(kindsOf(render().objects)).not.toContain("PodDisruptionBudget");
  });

  it("migrates PostgreSQL before an install and an upgrade, with the new configuration", () => {
    const values = {
      migration: { enabled: true },
      envFrom: [{ secretRef: { name: "providers" } }],
      config: { gateway: POSTGRES, pipelines: { "chat.yaml": "version: 1\n" } },
    };
    const { objects, notes } = render({ ...values, replicas: 2 });
    expect(notes).not.toContain("have a store each");
    const { metadata, spec } = objects.find(({ kind }) => kind === "Job") as unknown as Job;
    const hook = { "helm.sh/hook": "pre-install,pre-upgrade" };
    expect(metadata.annotations).toMatchObject(hook);
    expect(spec).toMatchObject({ backoffLimit: 3, activeDeadlineSeconds: 600 });
    const pod = spec.template;
    expect(pod.spec).toMatchObject({
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
      containers: [
        {
          args: ["migrate"],
          env: [{ name: "SLUICE_CONFIG", value: "/etc/sluice/gateway.yaml" }],
          envFrom: [{ secretRef: { name: "providers" } }],
          securityContext: { readOnlyRootFilesystem: true },
        },
      ],
    });
    // What exists before the first install: a ConfigMap that is a hook of an earlier weight.
    expect(pod.spec).not.toHaveProperty("serviceAccountName");
    const own = objects.find(
      ({ kind, metadata: { name } }) => kind === "ConfigMap" && name === metadata.name,
    ) as unknown as { readonly metadata: Job["metadata"]; readonly data: object };
    expect(own.metadata.annotations).toMatchObject(hook);
    expect(Number(own.metadata.annotations["helm.sh/hook-weight"])).toBeLessThan(
      Number(metadata.annotations["helm.sh/hook-weight"]),
    );
    const served = objects.find(
      ({ kind, metadata: { name } }) => kind === "ConfigMap" && name !== metadata.name,
    ) as unknown as { readonly data: object };
    expect(own.data).toEqual(served.data);
    // No Service sends clients to it.
    const selectors = objects
      .filter(({ kind }) => kind === "Service")
      .map((service) => (service["spec"] as { readonly selector: object }).selector);
    expect(selectors).toHaveLength(2);
    for (const selector of selectors) expect(pod.metadata.labels).not.toMatchObject(selector);
  });

  it("migrates with a ConfigMap of the operator's own", () => {
    const { objects } = render({
      migration: { enabled: true },
      config: { existingConfigMap: "own" },
    });
    expect(kindsOf(objects)).not.toContain("ConfigMap");
    const { spec } = objects.find(({ kind }) => kind === "Job") as unknown as Job;
    expect(spec.template.spec.volumes[0]).toEqual({ name: "config", configMap: { name: "own" } });
  });

  it("warns about the replicas of an autoscaler too", () => {
    expect(render({ autoscaling: { enabled: true } }).notes).toContain(
      "up to 10 replicas have a store each",
    );
  });

  it("has names that leave room for what Kubernetes adds to them", () => {
    for (const { kind, metadata } of render({ fullnameOverride: "a".repeat(70) }).objects)
      expect([kind, metadata.name.length <= (kind === "StatefulSet" ? 52 : 63)]).toEqual([
        kind,
        true,
      ]);
  });

  it("has an Ingress that speaks HTTPS to a gateway with a certificate", () => {
    const ingressOf = (values: object) =>
      render({ ingress: { enabled: true, host: "a.example.com" }, ...values }).objects.find(
        ({ kind }) => kind === "Ingress",
      ) as unknown as { readonly metadata: { readonly annotations: object } };
    const name = "nginx.ingress.kubernetes.io/backend-protocol";
    expect(ingressOf({}).metadata.annotations).not.toHaveProperty([name]);
    const tls = { existingSecret: "certificate" };
    expect(ingressOf({ tls }).metadata.annotations).toHaveProperty([name], "HTTPS");
  });

  it("is what deploy/kubernetes has: npm run manifests", () => {
    expect(readFileSync(MANIFESTS, "utf8")).toBe(manifestText(render().text));
  });

  /** The program is compiled with the first use, so that a skipped suite compiles nothing. */
  function createRendererLater(): ReturnType<typeof createRenderer> {
    let made: ReturnType<typeof createRenderer> | undefined;
    return (values) => (made ??= createRenderer())({ ...NEEDED, ...values });
  }
});
