/**
 * What a start opens, each with a sentence for people when it cannot: secrets, store, shared state,
 * ledger, listeners.
 */

import { once } from "node:events";
import { createServer } from "node:net";
import { errorMessage, type Clock, type Log, type StateDriver, type Store } from "@sluice/contract";
import { createResilientState } from "@sluice/runtime/state";
import type { Snapshot, TlsSettings } from "./config/snapshot.ts";
import { TlsFiles } from "./http/listener/tls-files.ts";
import { packageUrl, pluginCode } from "./registry/code-owners.ts";
import type { Definitions } from "./registry/definitions.ts";
import { openAloneMark } from "./accounting/outbox/alone-mark.ts";
import { type Installation, openInstallation, StartError } from "./resources/installation.ts";
import { watchDataFolder } from "./resources/data-folder.ts";
import { fullDisk } from "./accounting/ledger/free-space.ts";
import { createLedger, type Ledger } from "./accounting/ledger/ledger.ts";
import { LedgerGuard } from "./accounting/ledger/guard.ts";
import { openOutbox } from "./accounting/outbox/outbox.ts";
import { reportDamage } from "./accounting/outbox/orphaned-outboxes.ts";
import { StoreWatch } from "./resources/store/store-watch.ts";
import { TimedValidity } from "./resources/store/validity.ts";
import { readRunning } from "./resources/running-file.ts";
import {
  compareStore,
  FOREIGN_PEPPER,
  howToGoOn,
  readStoreMark,
} from "./accounting/ledger/store-mark.ts";
import { systemClock } from "./telemetry/clock.ts";
import { GATEWAY_CODE } from "./telemetry/block-report.ts";
import { type BlockWatch, watchBlocks } from "./telemetry/block-watch.ts";
import { withFields } from "./telemetry/log.ts";
import type { MetricRegistry } from "./telemetry/metrics.ts";

/** Time for the last rows to reach the store; what does not is moved by the next start. */
const FLUSH_TIMEOUT_MS = 5_000;

/** The installation of a start: its secrets, made when they are missing. Throws a StartError. */
export function installationOf(
  { server }: Snapshot,
  environment: Readonly<Record<string, string | undefined>>,
): Installation {
  return openInstallation({
    dataDirectory: server.dataDirectory,
    environment,
    mayUseForeignPepper: environment[FOREIGN_PEPPER] === "accept",
    mayMakeMasterKey: isLoopback(server.host) && isLoopback(server.admin.host),
  });
}

/** What decides how a store is opened. */
type OpeningOptions = Installation & {
  /** The gateway starts without the store, which is opened when it answers. */
  readonly mayBeAway?: boolean;
};

/** The store of a start, the one that belongs to the data folder. Throws a StartError. */
export async function openStore(
  snapshot: Snapshot,
  definitions: Definitions,
  log: Log,
  { pepper, mayUseForeignPepper = false, mayBeAway = false }: OpeningOptions,
): Promise<Store> {
  const { use, options } = snapshot.store;
  const { dataDirectory } = snapshot.server;
  const definition = definitions.stores.get(use);
  if (definition === undefined) throw new StartError(`No plugin provides the store ${use}.`);
  const host = { log: withFields(log, { plugin: use }), clock: systemClock, dataDirectory };
  const store = definition.create(options as never, host);
  const mark = readStoreMark(dataDirectory);
  const isSame = { dataDirectory, mark, pepper, mayUseForeignPepper, log };
  let isLate = false;
  const onLateOpen = (): void => {
    isLate = true;
    compareStore(store, isSame).catch((error: unknown) =>
      log.error("the store is not the one of this data folder: stop the gateway", { error }),
    );
  };
  try {
    await store.start(AbortSignal.timeout(60_000), {
      mustExist: mark !== undefined,
      ...(mayBeAway && { onLateOpen }),
    });
  } catch (error) {
    const advice = mark === undefined ? "" : ` ${howToGoOn(dataDirectory)}`;
    throw new StartError(`The store ${use} did not start: ${errorMessage(error)}${advice}`, {
      cause: error,
    });
  }
  try {
    await compareStore(store, isSame);
  } catch (error) {
    // A store that does not answer is compared when it does.
    if (mayBeAway && !isLate && !(error instanceof StartError)) return store;
    await store.stop();
    throw error instanceof StartError
      ? error
      : new StartError(errorMessage(error), { cause: error });
  }
  return store;
}

/** What says until when records of the store are believed. */
export function openValidity(
  { changes }: Store,
  { store }: Snapshot,
  log: Log,
  clock: Clock,
): StoreWatch | TimedValidity {
  const policy = store.whenDown;
  return changes === undefined
    ? new TimedValidity(clock, policy)
    : new StoreWatch({ changes, policy, clock, log });
}

/**
 * Time for the server of shared state to answer at the start; without it the gateway starts all the
 * same.
 */
const STATE_START_TIMEOUT_MS = 5_000;

/**
 * The driver of shared state in memory, for the process that holds it for all; `undefined` where a
 * server holds it.
 */
export function hostState(
  { shared }: Snapshot,
  definitions: Definitions,
  log: Log,
): StateDriver | undefined {
  const definition = definitions.states.get(shared.use);
  if (definition === undefined || definition.isRemote) return undefined;
  return definition.create(shared.options as never, {
    log: withFields(log, { plugin: shared.use }),
    clock: systemClock,
  });
}

/** What shared state asks about the ledger. */
export interface StateLedger {
  readonly ledger: Pick<Ledger, "health">;
  /** The name of the own outbox. */
  readonly outboxFile: string;
}

/**
 * Shared state of a start; `hosted` is the driver of a worker whose supervisor holds it. Throws a
 * StartError.
 */
export async function openState(
  snapshot: Snapshot,
  definitions: Definitions,
  log: Log,
  clock: Clock,
  hosted: StateDriver | undefined,
  { ledger, outboxFile }: StateLedger,
): Promise<StateDriver> {
  const { use, options } = snapshot.shared;
  // Each worker decides alone while the others cannot be asked.
  const instances =
    snapshot.shared.instances * (hosted === undefined ? 1 : snapshot.server.workers);
  const definition = definitions.states.get(use);
  if (definition === undefined) throw new StartError(`No plugin provides the shared state ${use}.`);
  const own = withFields(log, { plugin: use });
  try {
    const isHosted = hosted !== undefined && !definition.isRemote;
    const driver = isHosted ? hosted : definition.create(options as never, { log: own, clock });
    const state =
      definition.isRemote || isHosted
        ? createResilientState({
            driver,
            instances,
            clock,
            ledgerLagMs: () => ledger.health().lagMs,
            log: own,
            mark: openAloneMark(snapshot.server.dataDirectory, outboxFile, log),
          })
        : driver;
    await state.start(AbortSignal.timeout(STATE_START_TIMEOUT_MS));
    return state;
  } catch (error) {
    throw new StartError(`The shared state ${use} did not start: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** The ledger of a start, with its outbox of this name. Throws a StartError. */
export function openLedger(
  directory: string,
  name: string,
  store: Store,
  log: Log,
  clock: Clock,
): Ledger & { close(): Promise<void> } {
  let outbox;
  try {
    outbox = openOutbox({ directory, name });
  } catch (error) {
    throw new StartError(errorMessage(error), { cause: error });
  }
  outbox.onDamage = (path) => reportDamage(path, log);
  const folder = watchDataFolder(directory, [name]);
  const places = {
    data_folder: () => folder.fault() ?? outbox.fault(),
    store: () => store.fault?.(),
    disk: () => fullDisk(directory),
  };
  const guard = new LedgerGuard({ outbox, places, log, clock });
  const ledger = createLedger({ outbox, store: store.ledger, log, clock, guard });
  return {
    ...ledger,
    async close() {
      ledger.settleRefusals();
      await ledger.flush(AbortSignal.timeout(FLUSH_TIMEOUT_MS)).catch((error: unknown) => {
        log.warn("rows stay in the outbox; the next start moves them to the store", { error });
      });
      await ledger.stop();
      outbox.close();
    },
  };
}

/**
 * Checks that the addresses of a start are free, before the start makes anything that would stay
 * behind. Throws a StartError.
 */
export async function checkAddresses({ server }: Snapshot): Promise<void> {
  const { dataDirectory } = server;
  for (const { host, port } of [server, server.admin]) {
    // Port 0 asks the system for any free port.
    if (port !== 0)
      await listenOrExplain(
        () => listenBriefly(host, port),
        `${host}:${port}`,
        userOf(dataDirectory, port),
      );
  }
}

async function listenBriefly(host: string, port: number): Promise<void> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

/**
 * A supervised worker names the code of a block from here on, whatever `block_warning` says: its
 * supervisor logs it before it ends the worker.
 */
const HUNG_NAMED_MS = 1_000;

/** A watch for plugins that hold the event loop. */
export function openBlockWatch(
  { server }: Snapshot,
  { plugins }: Definitions,
  metrics: MetricRegistry,
  log: Log,
  reportFd: number | undefined,
): BlockWatch {
  const own = [
    import.meta.url,
    import.meta.resolve("@sluice/kit"),
    import.meta.resolve("@sluice/runtime"),
  ].map((url) => ({
    name: GATEWAY_CODE,
    url: packageUrl(url),
  }));
  const owners = [...pluginCode(plugins), ...own];
  const endedAfterMs = reportFd === undefined ? 0 : server.hungWorkerTimeoutMs;
  const thresholdMs =
    server.blockWarningMs === 0 ? Math.min(HUNG_NAMED_MS, endedAfterMs / 4) : server.blockWarningMs;
  return watchBlocks({ thresholdMs, owners, metrics, log, reportFd, endedAfterMs });
}

/** The certificate of the listeners; `undefined` where they speak HTTP. Throws a StartError. */
export function openTls(settings: TlsSettings | undefined, log: Log): TlsFiles | undefined {
  if (settings === undefined) return undefined;
  try {
    return new TlsFiles(settings, log);
  } catch (error) {
    const { certificate, key } = settings;
    throw new StartError(
      `server.tls: ${certificate} and ${key} cannot be used: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

/**
 * Who uses a port, as far as the data folder says it: a gateway that was started before, and lives.
 */
function userOf(dataDirectory: string, port: number): string {
  const running = readRunning(dataDirectory);
  const isIts =
    running !== undefined &&
    [running.publicUrl, running.adminUrl].some((url) => new URL(url).port === String(port));
  return isIts
    ? ` by the gateway on the data folder ${dataDirectory}, pid ${running.pid}: stop that one first`
    : "";
}

/**
 * Opens a listener. Throws a StartError that says why not; `user` is who has the port where it is
 * in use.
 */
export async function listenOrExplain<T>(
  open: () => Promise<T>,
  address: string,
  user = "",
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === "EADDRINUSE"
        ? `the port is in use${user}`
        : code === "EACCES"
          ? "this user may not use the port"
          : errorMessage(error);
    throw new StartError(`Cannot listen on ${address}: ${why}.`, { cause: error });
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
