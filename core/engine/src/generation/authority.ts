/**
 * Maps credentials to identities, in one generation: the installation's keys and the keys the
 * configuration declares.
 */

import type { Authority, Identity, Model } from "@sluice/contract";
import type { DeclaredKey, Snapshot } from "../config/snapshot.ts";
import type { KeyRing } from "../resources/key-ring.ts";
import { DeclaredTeams } from "./declared-teams.ts";
import { isWildcard } from "./models.ts";

/** The authority of a snapshot. */
export function createAuthority(snapshot: Snapshot, ring: KeyRing): Authority {
  const teams = new DeclaredTeams(snapshot.teams);
  const identities = new Map(
    snapshot.keys.map(
      (settings) => [ring.fingerprint(settings.key.reveal()), identityOf(settings)] as const,
    ),
  );
  const declaredTags = new Set([...snapshot.keys, ...snapshot.teams].flatMap(({ tags }) => tags));
  return {
    headerNames: snapshot.server.authHeaders,
    identify(presented) {
      const fingerprint = ring.fingerprint(presented);
      const known = identities.get(fingerprint);
      if (known === undefined) return ring.identify(presented, fingerprint, teams);
      if (!hasTeam(known)) return known;
      return teams.has(known.teamId) ? teams.join(known) : ring.inTeam(known);
    },
    keyIdOf: async (presented) =>
      identities.get(ring.fingerprint(presented))?.keyId ?? (await ring.idOf(presented)),
    foreignTag(identity, tags) {
      const others = tags.filter((tag) => !mayName(identity, tag));
      if (others.length === 0) return undefined;
      const declaredTag = others.find((tag) => declaredTags.has(tag));
      if (declaredTag !== undefined) return declaredTag;
      const owned = ring.ownedTags(others);
      return owned instanceof Promise ? owned.then(([first]) => first) : owned[0];
    },
    teamModels: async (teamId) => teams.find(teamId)?.models ?? (await ring.teamModels(teamId)),
    mayUse,
  };
}

function identityOf(settings: DeclaredKey): Identity {
  return Object.freeze({
    kind: "key",
    keyId: `yaml:${settings.alias}`,
    alias: settings.alias,
    userId: settings.userId,
    teamId: settings.teamId,
    models: settings.models,
    spendScope: settings.spendScope,
    tags: settings.tags,
    ...(settings.allowedTags === undefined || settings.allowedTags.length === 0
      ? {}
      : { allowedTags: settings.allowedTags }),
    guardrails: settings.guardrails,
    ...(settings.passthrough === true ? { passthrough: true } : {}),
    metadata: settings.metadata,
    limits: settings.limits,
  });
}

function hasTeam(identity: Identity): identity is Identity & { readonly teamId: string } {
  return identity.teamId !== undefined;
}

/**
 * Whether both lists of an identity, the key's and the team's, name the model; one of them by its
 * words where it is `only_named`.
 */
export function mayUse(identity: Identity, model: Model): boolean {
  const { kind, models, teamModels = [] } = identity;
  if (!names(models, model) || !names(teamModels, model)) return false;
  return (
    model.onlyNamed !== true || kind === "master" || models.length > 0 || teamModels.length > 0
  );
}

/** Whether an identity may name a tag that others own. The master key may name each. */
function mayName({ kind, tags, allowedTags = [] }: Identity, tag: string): boolean {
  return kind === "master" || tags.includes(tag) || allowedTags.includes(tag);
}

/**
 * Whether a list names the model: by its id, its entry, a wildcard or an access group. An empty
 * list names all.
 */
export function names(
  list: readonly string[],
  model: Pick<Model, "id" | "entry" | "accessGroups">,
): boolean {
  if (list.length === 0) return true;
  return list.some(
    (name) =>
      name === model.id ||
      name === model.entry ||
      model.accessGroups.includes(name) ||
      (isWildcard(name) && model.id.startsWith(name.slice(0, -1))),
  );
}
