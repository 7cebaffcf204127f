/**
 * Maps credentials to identities, in one generation: the installation's keys and the keys the
 * configuration declares.
 */

import {
  type Authority,
  type Identity,
  type MaybePromise,
  type Model,
  OWN_TAG,
} from "@sluice/contract";
import { namesModel } from "@sluice/runtime";
import type { DeclaredKey, Snapshot } from "../config/snapshot.ts";
import { keyBase, storedKey } from "../resources/key-identity.ts";
import { type KeyRing, MASTER_BASE } from "../resources/key-ring.ts";
import type { Played } from "../resources/tenants/plays.ts";
import type { KeyBase } from "../resources/tenants/compile-identity.ts";
import { Customers } from "./customers.ts";
import { DeclaredTenants } from "./declared-tenants.ts";

/** The authority of a snapshot. */
export function createAuthority(snapshot: Snapshot, ring: KeyRing): Authority {
  const tenants = new DeclaredTenants(snapshot, ring.tenants);
  const identities = ring.identitiesBy(tenants);
  const customers = new Customers({
    settings: snapshot.customers,
    declared: snapshot.tenants.customer,
    tenants,
    ring,
  });
  const declared = new Map(
    snapshot.keys.map(
      (settings) => [ring.fingerprint(settings.key.reveal()), declaredKey(settings)] as const,
    ),
  );
  const { organization, user, membership, customer } = snapshot.tenants;
  const owners = [snapshot.keys, snapshot.teams, organization, user, membership, customer];
  const declaredTags = new Set(owners.flat().flatMap(({ tags }) => tags));
  const identityOf = (base: KeyBase | undefined): MaybePromise<Identity | undefined> =>
    base && identities.of(base);
  return {
    headerNames: snapshot.server.authHeaders,
    identify(presented) {
      const played = ring.plays.take(presented);
      if (played !== undefined) return identityOf(playedBase(played, declared, ring.nowMs()));
      const fingerprint = ring.fingerprint(presented);
      const base = declared.get(fingerprint) ?? ring.find(presented, fingerprint);
      return base instanceof Promise ? base.then(identityOf) : identityOf(base);
    },
    keyIdOf: async (presented) =>
      declared.get(ring.fingerprint(presented))?.identity.keyId ?? (await ring.idOf(presented)),
    foreignTag(identity, tags) {
      const others = tags.filter((tag) => !mayName(identity, tag));
      if (others.length === 0) return undefined;
      const declaredTag = others.find((tag) => declaredTags.has(tag) || tag.startsWith(OWN_TAG));
      if (declaredTag !== undefined) return declaredTag;
      const owned = ring.ownedTags(others, identity.keyId);
      return owned instanceof Promise ? owned.then(([first]) => first) : owned[0];
    },
    async teamModels(teamId) {
      const { value: team } = await tenants.team(teamId);
      return team && (team.models ?? []);
    },
    mayUse,
    customerHeaders: snapshot.customers.headers,
    customerOf: (identity, claimed) => customers.of(identity, claimed),
  };
}

/** What the record says whom a request of the playground is sent as; as of a client, if it may. */
function playedBase(
  played: Played,
  declared: ReadonlyMap<string, KeyBase>,
  nowMs: number,
): KeyBase | undefined {
  if (played.kind === "master") return MASTER_BASE;
  if (played.kind === "declared")
    return [...declared.values()].find(({ identity }) => identity.keyId === played.keyId);
  const { record } = played;
  const isOver = record.expiresAtMs !== null && record.expiresAtMs <= nowMs;
  return record.blocked || isOver ? undefined : storedKey(record);
}

function declaredKey(settings: DeclaredKey): KeyBase {
  const { alias, userId, teamId, spendScope, metadata, limits, ...others } = settings;
  const { organizationId, customerId, mayNameCustomers, modelAliases, ...block } = others;
  const names = {
    keyId: `yaml:${alias}`,
    alias,
    userId,
    teamId,
    organizationId,
    spendScope,
    metadata,
    ...(customerId !== undefined && { customerId }),
    ...(mayNameCustomers === false && { mayNameCustomers }),
    ...(modelAliases !== undefined && { modelAliases }),
  };
  return keyBase(names, { ...block, ...limits }, false);
}

/**
 * Whether every list of an identity, the key's and those of what it belongs to, names the model;
 * one of them by its words where it is `only_named`.
 */
export function mayUse(identity: Identity, model: Model): boolean {
  const { kind, models, modelBounds } = identity;
  if (!namesModel(models, model)) return false;
  if (modelBounds !== undefined && !modelBounds.every((list) => namesModel(list, model)))
    return false;
  return (
    model.onlyNamed !== true || kind === "master" || models.length > 0 || modelBounds !== undefined
  );
}

/** Whether an identity may name a tag that others own. The master key may name each. */
function mayName({ kind, tags, allowedTags = [] }: Identity, tag: string): boolean {
  if (tag.startsWith(OWN_TAG)) return tags.includes(tag);
  return kind === "master" || tags.includes(tag) || allowedTags.includes(tag);
}
