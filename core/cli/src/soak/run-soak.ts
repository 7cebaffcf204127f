/**
 * A soak: a gateway with the user's configuration, constant traffic, and an edit of the
 * configuration every so often.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { OpenedConfig, Snapshot } from "@sluice/engine/config";
import { type BenchConfig, createBenchConfig } from "./bench-config.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { type GatewayChild, startGatewayChild } from "./gateway-child.ts";
import { type Look, type SoakResult, soakResult, type Swap } from "./proof.ts";
import { startTraffic } from "./traffic.ts";

/** The configuration, the duration and the load of a soak. */
export interface SoakOptions {
  readonly opened: OpenedConfig;
  readonly snapshot: Snapshot;
  readonly reloadEveryMs: number;
  /** The number of reloads after which the soak ends. */
  readonly reloads: number;
  readonly requestsPerSecond: number;
  /** Looks at what the gateway holds, after the warm-up. */
  readonly looks: number;
  /** The share of the reloads that is warm-up. */
  readonly warmUp: number;
  readonly onReload?: (count: number) => void;
}

const MAX_MODELS = 5;

/**
 * Between the end of a reload and the next one, however long the first took: without such a time
 * there is nothing to compare with.
 */
const QUIET_MS = 150;
const RELOAD_TIMEOUT_MS = 60_000;

/** Runs a soak. Throws an Error when the gateway does not start, or refuses an edit. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { opened, snapshot } = options;
  const upstream = await startFakeUpstream();
  let config: BenchConfig | undefined;
  let gateway: GatewayChild | undefined;
  try {
    config = createBenchConfig(opened, snapshot, upstream.baseUrl);
    gateway = await startGatewayChild(config.path);
    const path = chatPath(snapshot);
    const traffic = startTraffic({
      gateway,
      path,
      models: chatModels(snapshot),
      requestsPerSecond: options.requestsPerSecond,
    });
    const { swaps, looks, pauses } = await reloadOften(config, gateway, options).catch(
      async (error: unknown) => {
        await traffic.stop();
        throw error;
      },
    );
    return soakResult(await traffic.stop(), { swaps, looks, pauses });
  } finally {
    await gateway?.stop();
    await upstream.close();
    config?.remove();
  }
}

async function reloadOften(config: BenchConfig, gateway: GatewayChild, options: SoakOptions) {
  const { reloads, reloadEveryMs, warmUp } = options;
  const swaps: Swap[] = [];
  const looks: Look[] = [];
  const pauses: Swap[] = [];
  const first = Math.ceil(reloads * warmUp);
  const between = Math.max(1, Math.floor((reloads - first) / Math.max(1, options.looks - 1)));
  const begunMs = performance.now();
  for (let count = 1; count <= reloads; count += 1) {
    const beganMs = performance.now();
    config.edit(count);
    await reload(gateway);
    swaps.push({ beganMs, endedMs: performance.now() });
    options.onReload?.(count);
    if (count >= first && (count - first) % between === 0) {
      // A look collects garbage, which no gateway does in earnest: requests over it tell nothing.
      const lookedMs = performance.now();
      looks.push({ reloads: count, ...(await gateway.held()) });
      pauses.push({ beganMs: lookedMs, endedMs: performance.now() });
    }
    await pause(Math.max(QUIET_MS, begunMs + count * reloadEveryMs - performance.now()));
  }
  return { swaps, looks, pauses };
}

/**
 * The file is watched too; asking makes sure that each edit is a generation, and says when it is
 * live.
 */
async function reload({ adminUrl, masterKey }: GatewayChild): Promise<void> {
  const response = await fetch(`${adminUrl}/config/reload`, {
    method: "POST",
    headers: { authorization: `Bearer ${masterKey}`, "content-type": "application/json" },
    body: "{}",
    signal: AbortSignal.timeout(RELOAD_TIMEOUT_MS),
  });
  const attempt = (await response.json()) as {
    readonly outcome?: string;
    readonly findings?: readonly { readonly text: string }[];
  };
  if (attempt.outcome === "applied" || attempt.outcome === "unchanged") return;
  const findings = (attempt.findings ?? []).map(({ text }) => text).join("\n");
  throw new Error(
    `an edit that changes a comment and an account was ${attempt.outcome ?? `answered with ${response.status}`}:\n${findings}`,
  );
}

function chatPath({ pipelines }: Snapshot): string {
  const routes = pipelines
    .filter(({ operation }) => operation === "chat")
    .flatMap((pipeline) => pipeline.routes);
  const route = routes.find(
    ({ method, path, face }) => method === "POST" && face === undefined && !path.includes("{"),
  );
  if (route === undefined)
    throw new Error(
      "no pipeline serves chat under a path without parameters. Add such a route to a chat pipeline.",
    );
  return route.path;
}

/** The ids of the first chat models. In a wildcard, `soak` replaces the star. */
function chatModels({ models }: Snapshot): readonly string[] {
  const ids = models
    .filter(({ mode }) => mode === "chat")
    .map(({ id }) => id.replace(/\*$/, "soak"));
  if (ids.length === 0)
    throw new Error("the configuration has no chat model. Add one under models.");
  return ids.slice(0, MAX_MODELS);
}
