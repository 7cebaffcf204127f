/** Effects on declared organizations, users, members, customers, budgets and access groups. */

import type { TenantKind } from "@sluice/contract";
import type { DeclaredTenant } from "../../../config/tenants/declared-tenants.ts";
import type { Snapshot } from "../../../config/snapshot.ts";
import { accessEffects, isUnbounded, limitEffects, protectionEffects } from "./bounds.ts";
import { changesOf, listed, matched } from "./compare.ts";
import type { Effect } from "./effect.ts";
import { COMPARED } from "./teams.ts";

/** A kind with a block of limits. */
type Bounded = Exclude<TenantKind, "budget" | "access_group">;

const BOUNDED: Readonly<Record<Bounded, { readonly noun: string; readonly gone: string }>> = {
  organization: { noun: "organization", gone: "its keys are refused" },
  user: { noun: "user", gone: "the user's keys are refused" },
  membership: { noun: "member", gone: "the user's keys in the team are refused" },
  customer: { noun: "customer", gone: "it has the limits of other customers" },
};

/** What an edit changes for tenants other than teams. */
export function tenantEffects(live: Snapshot, candidate: Snapshot): Effect[] {
  return [
    ...(Object.keys(BOUNDED) as Bounded[]).flatMap((kind) => boundedEffects(kind, live, candidate)),
    ...budgetEffects(live, candidate),
    ...groupEffects(live, candidate),
  ];
}

function boundedEffects(kind: Bounded, live: Snapshot, candidate: Snapshot): Effect[] {
  const { noun, gone } = BOUNDED[kind];
  const about = (one: DeclaredTenant<Bounded>): string => `${noun} ${nameOf(one)}`;
  const { removed, added, kept } = matched<DeclaredTenant<Bounded>>(
    live.tenants[kind],
    candidate.tenants[kind],
    nameOf,
  );
  return [
    ...removed.map((one): Effect => ({
      risk: "danger",
      about: about(one),
      message: `is no longer declared: ${gone}, unless the store has its own ${noun} of that id`,
    })),
    ...added.map((one): Effect => ({
      risk: "caution",
      about: about(one),
      message: `is new${isUnbounded(one) ? ", without limits" : ""}${one.blocked ? ", and is blocked" : ""}`,
      at: one.at,
    })),
    ...kept.flatMap(([before, after]) => changed(before, after, about(after), live, candidate)),
  ];
}

function changed(
  before: DeclaredTenant<Bounded>,
  after: DeclaredTenant<Bounded>,
  about: string,
  live: Snapshot,
  candidate: Snapshot,
): Effect[] {
  const subject = { about, at: after.at };
  const [risk, message] = after.blocked
    ? (["danger", "is blocked: its requests are refused"] as const)
    : (["caution", "is no longer blocked"] as const);
  return [
    ...(before.blocked === after.blocked ? [] : [{ ...subject, risk, message }]),
    ...accessEffects(before, after, { ...subject, live, candidate }),
    ...limitEffects(before, after, subject),
    ...protectionEffects(before, after, subject),
    ...changesOf(before, after, COMPARED).map((text): Effect => ({
      ...subject,
      risk: WIDENING.test(text) ? "caution" : "safe",
      message: text,
    })),
  ];
}

/** Members whose change may allow more. */
const WIDENING =
  /^(?:allowedTags|roles|role|organizations|budgetId|budgetShare|perModel|expiresAtMs|selfService)\b/;

function budgetEffects(live: Snapshot, candidate: Snapshot): Effect[] {
  const { removed, added, kept } = matched(
    live.tenants.budget,
    candidate.tenants.budget,
    ({ id }) => id,
  );
  return [
    ...removed.map(({ id }): Effect => ({
      risk: "caution",
      about: `budget ${id}`,
      message: "is no longer declared: it keeps the limits that it has now",
    })),
    ...added.map(({ id, at }): Effect => ({
      risk: "safe",
      about: `budget ${id}`,
      message: "is new",
      at,
    })),
    ...kept.flatMap(([before, after]) => {
      const subject = { about: `budget ${after.id}`, at: after.at };
      return [
        ...limitEffects(before, after, subject),
        ...changesOf(before, after, COMPARED).map((message): Effect => ({
          ...subject,
          risk: "caution",
          message,
        })),
      ];
    }),
  ];
}

function groupEffects(live: Snapshot, candidate: Snapshot): Effect[] {
  const { removed, added, kept } = matched(
    live.tenants.access_group,
    candidate.tenants.access_group,
    ({ id }) => id,
  );
  return [
    ...removed.map(({ id }): Effect => ({
      risk: "danger",
      about: `access group ${id}`,
      message: "is no longer declared: lists that name it lose its models",
    })),
    ...added.map(({ id, models, at }): Effect => ({
      risk: "caution",
      about: `access group ${id}`,
      message: `is new, with ${listed(models)}`,
      at,
    })),
    ...kept.flatMap(([before, after]): Effect[] => {
      const subject = { about: `access group ${after.id}`, at: after.at };
      const lost = before.models.filter((model) => !after.models.includes(model));
      const gained = after.models.filter((model) => !before.models.includes(model));
      return [
        ...(lost.length === 0
          ? []
          : [{ ...subject, risk: "danger" as const, message: `loses the models ${listed(lost)}` }]),
        ...(gained.length === 0
          ? []
          : [
              {
                ...subject,
                risk: "caution" as const,
                message: `gains the models ${listed(gained)}`,
              },
            ]),
      ];
    }),
  ];
}

function nameOf(one: object): string {
  const { id, userId, teamId, organizationId } = one as Readonly<Record<string, unknown>>;
  if (userId !== undefined) return `${String(userId)} of team ${String(teamId)}`;
  const owner = typeof organizationId === "string" && organizationId !== "" ? organizationId : "";
  return owner === "" ? String(id) : `${String(id)} of ${owner}`;
}
