/** A generation: everything made from one snapshot, alive until its last lease ends. */

import {
  type Authority,
  type Clock,
  type Face,
  GatewayError,
  type GuardrailCatalog,
  type NativeApi,
} from "@sluice/contract";
import type { Snapshot } from "../config/snapshot.ts";
import { blame } from "../pipeline/blame.ts";
import { type CompiledRoute, compilePipelines } from "../pipeline/compile.ts";
import { askAgainFaults, streamFaults } from "../pipeline/guardrails.ts";
import type { RouteTable } from "../pipeline/routes.ts";
import { made } from "../registry/made.ts";
import type { ShadowReport } from "../pipeline/shadow/shadow.ts";
import { createGenerationParts } from "./create-parts.ts";
import type { Definitions } from "../registry/definitions.ts";
import type { HostFactory, ProcessParts, StandIns } from "./parts.ts";
import { BuildError } from "./build-error.ts";
import { testGuardrails } from "./guardrails.ts";
import { startInstance, stopInstance } from "./lifecycle.ts";
import { ClosingScope } from "./scope.ts";
import type { Counter } from "./rollout/counted.ts";
import { type Edge, Extensions } from "./extensions.ts";
import { withAliases } from "../pipeline/aliases.ts";

/** The holder of a lease on a generation: an exchange. */
export interface Leaseholder {
  readonly startedAtMs: number;
  /** The holder's place among the leases. The generation writes it. */
  leaseIndex: number;
  /** Ends what is under way, because the generation's time is up. */
  abort(reason: GatewayError): void;
}

/**
 * Builds and starts a generation. A failure closes what was made, and is thrown with the plugin's
 * name. With stand-ins it is a generation for a preflight, whose guardrails were started and tested
 * before.
 */
export async function buildGeneration(
  process: ProcessParts,
  snapshot: Snapshot,
  number: number,
  standIns?: StandIns,
): Promise<Generation> {
  const { log, clock, definitions } = process;
  const scope = new ClosingScope(log);
  try {
    const parts = createGenerationParts(process, { number, snapshot, scope }, standIns);
    const { providers, hostFor, authority } = parts;
    const natives = providers.names().flatMap((name) => {
      const native = providers.find(name)?.translation.native;
      return native === undefined ? [] : [{ name, native }];
    });
    const { guardrails } = parts;
    const faces = createFaces(definitions, hostFor);
    const extensions = new Extensions(snapshot, definitions.extensions, hostFor);
    const { edge } = extensions;
    const { routes, instances, shadows } = compilePipelines(
      edge === undefined ? snapshot : aliased(snapshot, edge, faces),
      definitions.steps,
      ({ use }) => hostFor(use),
      faces,
    );
    for (const { name, guardrail } of standIns === undefined ? guardrails.list() : []) {
      scope.defer(() => stopInstance(guardrail, `guardrail ${name}`));
      await startInstance(guardrail, `guardrail ${name}`).catch((error: unknown) => {
        const use = snapshot.guardrails.find((one) => one.name === name);
        throw use === undefined ? error : blame(error, use.at);
      });
    }
    // Leaves first: the innermost step is ready before the one that calls it.
    for (const { settings, pipeline, step } of instances.toReversed()) {
      const name = `${settings.use} of pipeline ${pipeline}`;
      scope.defer(() => stopInstance(step, name));
      await startInstance(step, name).catch((error: unknown) => {
        throw blame(error, settings.at);
      });
    }
    await extensions.start(scope);
    if (standIns === undefined) {
      const faults = [
        ...streamFaults(snapshot.pipelines, definitions.steps, guardrails),
        ...askAgainFaults(snapshot.pipelines, definitions.steps, guardrails),
        ...(await testGuardrails(snapshot, guardrails, definitions, hostFor("guardrails"))),
      ];
      if (faults.length > 0) throw new BuildError(faults);
    }
    return new Generation(
      number,
      snapshot,
      { routes, guardrails, authority, scope, shadows, natives, faces: [...faces.values()], edge },
      clock,
    );
  } catch (error) {
    await scope.close();
    throw error;
  }
}

function aliased(
  snapshot: Snapshot,
  { aliases }: Edge,
  faces: ReadonlyMap<string, Face>,
): Snapshot {
  const pipelines = withAliases(snapshot.pipelines, aliases, (name) => faces.has(name));
  return { ...snapshot, pipelines };
}

/** The faces of the loaded packages, by their names. */
function createFaces(definitions: Definitions, hostFor: HostFactory): ReadonlyMap<string, Face> {
  return new Map(
    [...definitions.faces].map(([name, definition]) => [
      name,
      made(definition.create({} as never, hostFor(name)), "face", name),
    ]),
  );
}

interface NativeOfProvider {
  readonly name: string;
  readonly native: NativeApi;
}

/** A running configuration. */
export class Generation {
  readonly number: number;
  readonly snapshot: Snapshot;
  readonly routes: RouteTable<CompiledRoute>;
  readonly guardrails: GuardrailCatalog;
  /** Resolves keys to identities. */
  readonly authority: Authority;
  readonly createdAtMs: number;
  /** Its steps in shadow, and what they would have done. */
  readonly shadows: readonly ShadowReport[];
  /** The faces of the loaded packages. */
  readonly faces: readonly Face[];
  /** The APIs of its providers that declare one, by the providers' names. */
  readonly natives: readonly NativeOfProvider[];
  /** What extensions do at the edge. Absent: there are none. */
  readonly edge: Edge | undefined;
  /** While a monitor is attached: how its requests end. */
  tally: Counter | undefined;
  readonly #scope: ClosingScope;
  readonly #clock: Clock;
  /**
   * An array, not a Set: a Set under constant adding and deleting leaves a chain of outgrown tables
   * behind, and as soon as one of them is in V8's old space it keeps every exchange since then
   * alive until the next full collection.
   */
  readonly #leases: Leaseholder[] = [];
  #onEmpty: (() => void) | undefined;

  constructor(
    number: number,
    snapshot: Snapshot,
    parts: {
      readonly routes: RouteTable<CompiledRoute>;
      readonly guardrails: GuardrailCatalog;
      readonly authority: Authority;
      readonly scope: ClosingScope;
      readonly shadows: readonly ShadowReport[];
      readonly natives?: readonly NativeOfProvider[];
      readonly faces?: readonly Face[];
      readonly edge?: Edge | undefined;
    },
    clock: Clock,
  ) {
    const { routes, guardrails, authority, scope, shadows, natives = [], faces = [] } = parts;
    this.natives = natives;
    this.faces = faces;
    this.edge = parts.edge;
    this.number = number;
    this.snapshot = snapshot;
    this.routes = routes;
    this.guardrails = guardrails;
    this.authority = authority;
    this.createdAtMs = clock.now();
    this.shadows = shadows;
    this.#scope = scope;
    this.#clock = clock;
  }

  get leases(): number {
    return this.#leases.length;
  }

  /** Age of the oldest lease in milliseconds, 0 without one. */
  get oldestLeaseMs(): number {
    const nowMs = this.#clock.now();
    return this.#leases.reduce(
      (oldestMs, { startedAtMs }) => Math.max(oldestMs, nowMs - startedAtMs),
      0,
    );
  }

  /** Takes a lease: the generation stays open until its release. */
  lease(holder: Leaseholder): void {
    holder.leaseIndex = this.#leases.length;
    this.#leases.push(holder);
  }

  /** Gives a lease back. */
  release(holder: Leaseholder): void {
    const last = this.#leases.pop();
    if (last !== undefined && last !== holder) {
      last.leaseIndex = holder.leaseIndex;
      this.#leases[holder.leaseIndex] = last;
    }
    if (this.#leases.length === 0) this.#onEmpty?.();
  }

  /**
   * Waits for the last lease, ends what is left after the deadline, then closes everything in
   * reverse order.
   */
  async drain(deadlineMs: number): Promise<void> {
    if (this.#leases.length > 0) {
      const empty = new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
      const timer = setTimeout(() => this.#cut(), deadlineMs);
      await empty;
      clearTimeout(timer);
    }
    await this.#scope.close();
  }

  #cut(): void {
    const reason = new GatewayError(
      "overloaded",
      "The configuration was replaced, and this request took longer than the drain timeout. Send it again.",
    );
    for (const holder of this.#leases.slice()) holder.abort(reason);
  }
}
