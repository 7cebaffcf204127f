/**
 * A storm of edits over constant load and long streams, and what clients and the operating system
 * saw of it.
 */

import { setTimeout as pause } from "node:timers/promises";
import { createUpstream } from "@sluice/testing";
import { configStatus } from "./client.ts";
import { eventually } from "./eventually.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { type Seen, sendOne } from "./load.ts";
import { isMixed } from "./one-generation.ts";
import { createWorkspace } from "./workspace.ts";

/** How hard it blows. */
export interface StormOptions {
  readonly seconds: number;
  readonly editsPerSecond: number;
  readonly requestsPerSecond: number;
  /** Streams that begin before the first edit and end after the last. */
  readonly streams: number;
}

/** What was seen. */
export interface StormResult {
  readonly edits: number;
  readonly requests: number;
  readonly failed: readonly Seen[];
  readonly mixed: readonly Seen[];
  readonly brokenStreams: readonly Seen[];
  /** From the last write of a file to the moment that a request saw it. */
  readonly lastEditLiveMs: number;
  /** The most generations alive at any look. */
  readonly mostGenerations: number;
  readonly generationsMade: number;
  /** Memory after the warm-up, and once all is quiet again. */
  readonly memoryBeforeMb: number;
  readonly memoryAfterMb: number;
}

const LOOK_MS = 50;
const STREAM_EVENT_MS = 50;
const WARM_UP_REQUESTS = 300;
const PROBE = new URL("../../soak/memory-probe.ts", import.meta.url).pathname;
/** What the memory must come back to. */
export const MEMORY_MARGIN_MB = 50;

/** Starts a gateway of its own, and blows. */
export async function runEditStorm(options: StormOptions): Promise<StormResult> {
  const upstream = await createUpstream();
  const workspace = createWorkspace();
  const configOf = (edit: number): string =>
    workspace.config({
      baseUrl: upstream.baseUrl,
      provider: `organization: edit-${edit}`,
      models: [
        `{ id: edited, targets: [{ provider: openai, model: edit-${edit} }] }`,
        `{ id: long, targets: [{ provider: openai, model: long-${edit} }] }`,
      ],
    });
  const words = Math.ceil(((options.seconds + 1) * 1_000) / STREAM_EVENT_MS);
  upstream.script(({ parsed, headers }) => {
    const model = String(parsed?.["model"]);
    const isLong = model.startsWith("long-");
    const said = `${model.replace("long-", "edit-")} ${String(headers["openai-organization"])} and`;
    return {
      kind: "reply",
      text: isLong ? `${said}${" more".repeat(words)}` : said,
      eventDelayMs: isLong ? STREAM_EVENT_MS : 1,
    };
  });
  workspace.write(configOf(0));
  const gateway = await startGateway(workspace, { NODE_OPTIONS: `--expose-gc --import ${PROBE}` });
  try {
    for (let sent = 0; sent < WARM_UP_REQUESTS; sent += 10) {
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => sendOne(gateway, "edited", index % 4 === 0)),
      );
    }
    const memoryBeforeMb = await residentMb(gateway);
    const first = (await configStatus(gateway)).live.generation;
    const streams = Array.from({ length: options.streams }, () => sendOne(gateway, "long", true));
    const stopping = new AbortController();
    let mostGenerations = 1;
    const looking = everyMs(LOOK_MS, stopping.signal, async () => {
      mostGenerations = Math.max(
        mostGenerations,
        1 + (await configStatus(gateway)).draining.length,
      );
    });
    const requests: Promise<Seen>[] = [];
    const sending = everyMs(1_000 / options.requestsPerSecond, stopping.signal, () => {
      requests.push(sendOne(gateway, "edited", requests.length % 4 === 0));
    });

    const edits = options.seconds * options.editsPerSecond;
    const begunMs = performance.now();
    for (let edit = 1; edit <= edits; edit += 1) {
      workspace.write(configOf(edit), edit % 2 === 0 ? "rename" : "in place");
      await pause(
        Math.max(0, begunMs + (edit * 1_000) / options.editsPerSecond - performance.now()),
      );
    }
    const writtenMs = performance.now();
    await eventually("the last edit to be live", async () => {
      const seen = sendOne(gateway, "edited", false);
      requests.push(seen);
      return (await seen).text.includes(`edit-${edits} `);
    });
    const lastEditLiveMs = performance.now() - writtenMs;

    const long = await Promise.all(streams);
    stopping.abort();
    await Promise.all([looking, sending]);
    const seen = await Promise.all(requests);
    const generationsMade = (await configStatus(gateway)).live.generation - first;
    await eventually(
      "old generations to close",
      async () => (await configStatus(gateway)).draining.length === 0,
    );
    const isWhole = ({ status, hasEnded }: Seen): boolean => status === 200 && hasEnded;
    const edition = new Map<string, string>();
    return {
      edits,
      requests: seen.length,
      failed: seen.filter((response) => !isWhole(response)),
      mixed: [...seen, ...long].filter(
        (response) => isWhole(response) && isMixed(response, edition),
      ),
      brokenStreams: long.filter((response) => !isWhole(response)),
      lastEditLiveMs,
      mostGenerations,
      generationsMade,
      memoryBeforeMb,
      memoryAfterMb: await residentMb(gateway),
    };
  } finally {
    await gateway.dispose();
    await upstream.close();
  }
}

async function everyMs(intervalMs: number, signal: AbortSignal, act: () => unknown): Promise<void> {
  const begunMs = performance.now();
  for (let count = 1; !signal.aborted; count += 1) {
    await act();
    await pause(Math.max(0, begunMs + count * intervalMs - performance.now()));
  }
}

/** Resident memory of a gateway in megabytes, its garbage collected first. */
async function residentMb(gateway: GatewayProcess): Promise<number> {
  const memoryLines = (): readonly string[] => gateway.stderr.match(/^memory \{.*\}$/gm) ?? [];
  const before = memoryLines().length;
  gateway.signal("SIGUSR2");
  const line = await eventually("the memory", () => memoryLines()[before]);
  const { rss } = JSON.parse(line.slice("memory ".length)) as { readonly rss: number };
  return Math.round(rss / 1_048_576);
}
