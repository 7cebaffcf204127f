/** The extensions of a generation, joined: what the listeners ask at the edge. */

import type {
  Extension,
  ExtensionRoute,
  ListenerName,
  PathAlias,
  ExtensionDefinition,
} from "@sluice/contract";
import type { Snapshot } from "../config/snapshot.ts";
import { blame } from "../pipeline/blame.ts";
import { RouteTable } from "../pipeline/routes.ts";
import type { HostFactory } from "./parts.ts";
import { startInstance, stopInstance } from "./lifecycle.ts";
import type { ClosingScope } from "./scope.ts";

type Read = NonNullable<Extension["read"]>;
type WriteHeaders = NonNullable<Extension["headers"]>;
type FormError = NonNullable<Extension["error"]>;

/** What the extensions of a generation do, each list in the order of their names. */
export interface Edge {
  readonly readers: readonly Read[];
  readonly writers: readonly WriteHeaders[];
  readonly errors: readonly FormError[];
  readonly aliases: readonly PathAlias[];
  readonly routes: Readonly<Record<ListenerName, RouteTable<ExtensionRoute>>>;
}

/** An extension with its place in the configuration. */
interface Living {
  readonly name: string;
  readonly extension: Extension;
}

/** The extensions of a snapshot, created and not started. */
export class Extensions {
  readonly #living: readonly Living[];
  readonly #snapshot: Snapshot;

  constructor(
    snapshot: Snapshot,
    definitions: ReadonlyMap<string, ExtensionDefinition<never>>,
    hostFor: HostFactory,
  ) {
    this.#snapshot = snapshot;
    this.#living = snapshot.extensions.flatMap(({ name, options, at }) => {
      const definition = definitions.get(name);
      if (definition === undefined) return [];
      try {
        return [{ name, extension: definition.create(options as never, hostFor(name)) }];
      } catch (error) {
        throw blame(error, at);
      }
    });
  }

  /** Joined; `undefined` without any, and then no request asks. */
  get edge(): Edge | undefined {
    if (this.#living.length === 0) return undefined;
    const all = this.#living.map(({ extension }) => extension);
    const routes = {
      public: new RouteTable<ExtensionRoute>(),
      admin: new RouteTable<ExtensionRoute>(),
    };
    for (const route of all.flatMap((one) => one.routes ?? []))
      routes[route.listener].add(route.method, route.path, route);
    return {
      readers: all.flatMap((one) => one.read?.bind(one) ?? []),
      writers: all.flatMap((one) => one.headers?.bind(one) ?? []),
      errors: all.flatMap((one) => one.error?.bind(one) ?? []),
      aliases: all.flatMap((one) => one.aliases ?? []),
      routes,
    };
  }

  /** Starts each; the scope stops them. */
  async start(scope: ClosingScope): Promise<void> {
    for (const { name, extension } of this.#living) {
      const what = `extension ${name}`;
      scope.defer(() => stopInstance(extension, what));
      await startInstance(extension, what).catch((error: unknown) => {
        const use = this.#snapshot.extensions.find((one) => one.name === name);
        throw use === undefined ? error : blame(error, use.at);
      });
    }
  }
}
