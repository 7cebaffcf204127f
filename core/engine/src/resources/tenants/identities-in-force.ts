/** Identities by the records in force, which change with the configuration. */

import type { Identity, MaybePromise } from "@sluice/contract";
import type { KeyBase } from "./compile-identity.ts";
import type { Identities } from "./identities.ts";
import type { TenantSource } from "./tenant-source.ts";

/** Makes identities by the records of a source. */
interface Maker {
  /** The records of the store. */
  readonly tenants: TenantSource;
  identitiesBy(source: TenantSource): Identities;
}

/** Makes identities by the source that holds at each call. */
export class IdentitiesInForce {
  readonly #maker: Maker;
  readonly #inForce: (stored: TenantSource) => TenantSource | undefined;
  #made: { readonly by: TenantSource; readonly identities: Identities } | undefined;

  /** `inForce`: one object for as long as it holds; `undefined` for the records of the store. */
  constructor(maker: Maker, inForce: (stored: TenantSource) => TenantSource | undefined) {
    this.#maker = maker;
    this.#inForce = inForce;
  }

  /** As `Identities.of`; `undefined` for no key. */
  of(base: KeyBase | undefined): MaybePromise<Identity | undefined> {
    const { tenants } = this.#maker;
    const by = this.#inForce(tenants) ?? tenants;
    if (this.#made?.by !== by) this.#made = { by, identities: this.#maker.identitiesBy(by) };
    return base && this.#made.identities.of(base);
  }
}
