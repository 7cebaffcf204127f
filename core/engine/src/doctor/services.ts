/** The services behind the gateway: its store, its shared state and, on request, its providers. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  type Host,
  type Log,
  type PassthroughRequest,
  type ProviderDefinition,
  Secret,
  type Store,
} from "@sluice/contract";
import { unlessAborted } from "@sluice/kit/internals";
import { foreignPepper, pepperPrint, readStoreMark } from "../accounting/ledger/store-mark.ts";
import type { ProviderSettings, Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import { systemClock } from "../telemetry/clock.ts";
import type { Check } from "./check.ts";
import { reasonOf } from "./reason.ts";

const START_MS = 10_000;
const ASK_MS = 10_000;
const SLOW_STATE_MS = 20;
const CLOCK_MARGIN_MS = 60_000;
const LOOKS = 5;

const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * Opens the store as a start would, schema and all, compares the pepper with the store's check
 * value, and closes it.
 */
export async function checkStore(
  { store, server }: Snapshot,
  definitions: Definitions,
): Promise<readonly Check[]> {
  const name = "store";
  const { use, options } = store;
  const { dataDirectory } = server;
  const fix = "The start would fail as well: correct `store` in gateway.yaml, or what it names.";
  const definition = definitions.stores.get(use);
  if (definition === undefined)
    return [{ name, grade: "fail", found: `no plugin provides ${use}`, fix }];
  const beganMs = performance.now();
  try {
    const opened = definition.create(options as never, {
      log: silentLog,
      clock: systemClock,
      dataDirectory,
    });
    try {
      await opened.start(AbortSignal.timeout(START_MS), {
        mustExist: readStoreMark(dataDirectory) !== undefined,
      });
      const found = `${use}, open and up to date in ${ms(performance.now() - beganMs)}`;
      return [{ name, grade: "ok", found }, await checkPepper(opened, dataDirectory)];
    } finally {
      await opened.stop();
    }
  } catch (error) {
    return [
      { name, grade: "fail", found: `${use} does not open: ${reasonOf(error, options)}`, fix },
    ];
  }
}

async function checkPepper(store: Store, dataDirectory: string): Promise<Check> {
  const name = "pepper";
  const path = join(dataDirectory, "pepper");
  if (store.keep === undefined || !existsSync(path))
    return { name, grade: "skip", found: "the first start makes it" };
  const print = pepperPrint(Buffer.from(readFileSync(path, "utf8").trim(), "hex"));
  if ((await store.keep("pepper", print)) === print)
    return { name, grade: "ok", found: `${path} is the one of the store's keys` };
  const [found = "", fix = ""] = foreignPepper(dataDirectory).split(/(?<=recognised\.) /);
  return { name, grade: "fail", found, fix };
}

/** Above this part of the limit, an outage of one gateway or a second instance may meet it. */
const NEARLY_ALL = 0.9;

/**
 * Counts the connections of the store's server: those that are used, and those that the processes
 * of this gateway take at most. Nothing for a store without a server.
 */
export async function checkConnections(
  { store: { use, options }, server: { dataDirectory, workers } }: Snapshot,
  definitions: Definitions,
  isRunning: boolean,
): Promise<readonly Check[]> {
  const store = definitions.stores
    .get(use)
    ?.create(options as never, { log: silentLog, clock: systemClock, dataDirectory });
  if (store?.connections === undefined) return [];
  const name = "store connections";
  try {
    const { max, used, ofGateways, perProcess } = await store.connections();
    const own = perProcess * workers;
    const found = `${used} of ${max} are used, ${ofGateways} by gateways; this gateway takes ${own} at most`;
    const isFull = used >= max * NEARLY_ALL || (!isRunning && used + own > max) || own > max;
    if (!isFull) return [{ name, grade: "ok", found }];
    const fix =
      "Raise max_connections of the server, lower connections under `store`, or put a pooler before the server.";
    return [{ name, grade: "warn", found, fix }];
  } catch (error) {
    const found = `${use} does not count them: ${reasonOf(error, options)}`;
    return [{ name, grade: "skip", found }];
  }
}

/** Asks the shared state a few times. */
export async function checkState(
  { shared: { use, options } }: Snapshot,
  definitions: Definitions,
): Promise<Check> {
  const name = "shared state";
  const definition = definitions.states.get(use);
  if (definition === undefined)
    return {
      name,
      grade: "fail",
      found: `no plugin provides ${use}`,
      fix: "Correct `shared` in gateway.yaml.",
    };
  if (!definition.isRemote) return { name, grade: "ok", found: `${use}, in the process` };
  const state = definition.create(options as never, { log: silentLog, clock: systemClock });
  try {
    await state.start(AbortSignal.timeout(START_MS));
    const times: number[] = [];
    for (let look = 0; look < LOOKS; look += 1) {
      const beganMs = performance.now();
      await state.read(["doctor"]);
      times.push(performance.now() - beganMs);
      await pause(10);
    }
    const median = times.toSorted((left, right) => left - right)[Math.floor(LOOKS / 2)] ?? 0;
    const found = `${use}, answers in ${ms(median)}`;
    if (median < SLOW_STATE_MS) return { name, grade: "ok", found };
    return {
      name,
      grade: "warn",
      found,
      fix: "Every request with a limit waits for it: shorten its network path, or give it more CPU.",
    };
  } catch (error) {
    const fix =
      "The gateway starts without it, and decides by itself with its part of each limit. Correct `shared`, or what it names.";
    const found = `${use} does not answer: ${reasonOf(error, options)}`;
    return { name, grade: "warn", found, fix };
  } finally {
    await state.stop();
  }
}

/**
 * Checks that providers have their credentials. With `isOnline`, also that the upstream accepts
 * them, by a list of models or the like, which is free.
 */
export async function checkProviders(
  { providers }: Snapshot,
  definitions: Definitions,
  isOnline: boolean,
): Promise<Check[]> {
  const checks = await Promise.all(
    providers.map(async (settings): Promise<Check> => {
      const { name: provider, missing, use } = settings;
      const name = `provider ${provider}`;
      if (missing.length > 0) {
        // An unused provider is no fault: the shipped file names all of them.
        return {
          name,
          grade: "skip",
          found: `unavailable: ${missing.join(", ")} does not resolve`,
        };
      }
      const definition = definitions.providers.get(use);
      const endpoint = definition?.modelList;
      if (!isOnline || definition === undefined || endpoint === undefined)
        return { name, grade: "ok", found: "its credential is set" };
      return { name, ...(await askProvider(settings, definition, endpoint)) };
    }),
  );
  const isServed = providers.some(({ missing, use }) => missing.length === 0 && use !== "echo");
  if (isServed || providers.length === 0) return checks;
  const fix = "Export the variable of one, for example OPENAI_API_KEY.";
  return [
    ...checks,
    { name: "providers", grade: "warn", found: "none but echo is available", fix },
  ];
}

async function askProvider(
  { options }: ProviderSettings,
  definition: ProviderDefinition<never>,
  endpoint: string,
): Promise<Omit<Check, "name">> {
  try {
    const scope = { defer: () => {} };
    const host = {
      log: silentLog,
      clock: systemClock,
      scope,
      generation: 0,
      shared: (_key: string, make: () => object) => make(),
    };
    const provider = definition.create(options as never, host as unknown as Host);
    const request: PassthroughRequest = {
      method: "GET",
      endpoint,
      query: "",
      headers: {},
      body: undefined,
    };
    const call = provider.passthrough?.(request);
    if (call === undefined) return { grade: "ok", found: "its credential is set" };
    const signal = AbortSignal.timeout(ASK_MS);
    const { url, headers } =
      provider.authorize === undefined
        ? call
        : await unlessAborted(Promise.resolve(provider.authorize(call, signal)), signal);
    const beganMs = performance.now();
    const shown = Object.entries(headers).map(
      ([name, value]) => [name, value instanceof Secret ? value.reveal() : value] as const,
    );
    const sent = headersOf(shown);
    if (sent === undefined) return UNSENDABLE;
    const response = await fetch(url, {
      headers: sent,
      signal,
      redirect: "error",
    });
    await response.body?.cancel();
    return judged(response, performance.now() - beganMs);
  } catch (error) {
    return {
      grade: "fail",
      found: `it does not answer: ${reasonOf(error, options)}`,
      fix: "Look at its address, at DNS and at the firewall.",
    };
  }
}

const UNSENDABLE: Omit<Check, "name"> = {
  grade: "fail",
  found:
    "its credential, or another header, has a line break or a character that no header may have",
  fix: "Write it as one line of printable ASCII characters.",
};

/** The headers of a call; `undefined` where they cannot be sent. */
function headersOf(shown: readonly (readonly [string, string])[]): Headers | undefined {
  try {
    return new Headers(shown.map(([name, value]): [string, string] => [name, value]));
  } catch {
    // The error quotes the value.
    return undefined;
  }
}

function judged(response: Response, tookMs: number): Omit<Check, "name"> {
  const { status } = response;
  const aheadMs = Date.parse(response.headers.get("date") ?? "") - Date.now();
  if (Math.abs(aheadMs) > CLOCK_MARGIN_MS) {
    const found = `its clock is ${Math.round(aheadMs / 1_000)} s ahead of this one`;
    return { grade: "warn", found, fix: "Set the clock, and keep it by NTP." };
  }
  if (status === 401 || status === 403) {
    return {
      grade: "fail",
      found: `it refuses the credential (${status})`,
      fix: "Renew the credential; an edit is not needed.",
    };
  }
  if (status >= 500)
    return {
      grade: "warn",
      found: `it answers ${status}`,
      fix: "Wait, or look at its status page.",
    };
  return { grade: "ok", found: `answers in ${ms(tookMs)}` };
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
