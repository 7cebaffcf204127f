/** The image's files: `compose.yaml`, the `Dockerfile`, and the configurations beside them. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkConfig, formatFinding } from "@sluice/engine";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "./chart.ts";

interface Service {
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const compose = parse(readFileSync(join(ROOT, "compose.yaml"), "utf8")) as Compose;
const { gateway } = compose.services;
const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8");

describe("compose.yaml", () => {
  it.each(Object.entries(compose.services))(
    "gives %s a read-only root and no capability",
    (_name, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
      });
    },
  );

  it("publishes administration on this machine only", () => {
    expect(gateway?.ports).toEqual(["4000:4000", "127.0.0.1:4001:4001"]);
  });

  it("names files that exist, and an example of each secret", () => {
    const mounted = (gateway?.volumes ?? []).filter((volume) => volume.startsWith("."));
    expect(mounted.length).toBeGreaterThan(0);
    for (const volume of mounted)
      expect(existsSync(join(ROOT, volume.split(":")[0] ?? ""))).toBe(true);
    for (const name of gateway?.secrets ?? [])
      expect(existsSync(join(ROOT, `${compose.secrets[name]?.file}.example`))).toBe(true);
  });

  it("lets a stop take as long as the drain of its configuration", () => {
    const { server } = parse(
      readFileSync(join(ROOT, "deploy/compose/config/gateway.yaml"), "utf8"),
    ) as { readonly server: { readonly drain_timeout: string } };
    const seconds = (text = ""): number => Number(/^(\d+)s$/.exec(text)?.[1]);
    expect(seconds(gateway?.stop_grace_period)).toBeGreaterThanOrEqual(
      seconds(server.drain_timeout) + 20,
    );
  });
});

describe("the Dockerfile", () => {
  it("copies and runs files that exist", () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(\S+) /gm)].map(([, path]) => path);
    expect(copied).toEqual([".", "deploy/image/gateway.yaml"]);
    expect(existsSync(join(ROOT, "deploy/image/gateway.yaml"))).toBe(true);
    expect(existsSync(join(ROOT, "core/cli/bin/health.js"))).toBe(true);
  });

  it("runs as a user without rights", () => {
    expect(/^USER (.*)$/m.exec(dockerfile)?.[1]).toBe("65532:65532");
  });
});

describe.each(["deploy/image/gateway.yaml", "deploy/compose/config/gateway.yaml"])("%s", (path) => {
  it("is a whole configuration", async () => {
    const { findings } = await checkConfig({
      path: join(ROOT, path),
      cwd: ROOT,
      environment: {},
    });
    expect(findings.map((finding) => formatFinding(finding))).toEqual([]);
  });
});
