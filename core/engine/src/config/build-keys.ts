/** The declared keys of a snapshot. */

import type { RecordLimits, Secret } from "@sluice/contract";
import { amountsOf, periodOf } from "./tenants/build-limits.ts";
import type { ResolvedDocument } from "./files/references.ts";
import type { GatewaySections } from "./schema/gateway.ts";
import type { KeySection } from "./schema/keys.ts";
import type { DeclaredKey } from "./snapshot.ts";

/** The entries of `keys:`. */
export function keysOf(gateway: ResolvedDocument, sections: GatewaySections): DeclaredKey[] {
  return sections.keys.map((key, index) => {
    const limits = amountsOf(key);
    return {
      alias: key.alias,
      key: key.key as Secret,
      models: key.models,
      userId: key.user_id,
      teamId: key.team_id,
      spendScope: key.spend_scope,
      guardrails: key.guardrails,
      passthrough: key.passthrough,
      tags: key.tags,
      allowedTags: key.allowed_tags,
      metadata: key.metadata,
      ...ownersOf(key),
      ...aliasesOf(key),
      ...sparse(periodOf(key)),
      // Without a limit the key is as cheap as one of the store that has none.
      ...(isBounded(limits) && { limits }),
      at: gateway.document.keyAt(["keys", index]),
    };
  });
}

/** What a key belongs to besides its user and team; members without effect are absent. */
function ownersOf(key: KeySection) {
  return {
    ...(key.organization_id !== undefined && { organizationId: key.organization_id }),
    ...(key.customer_id !== undefined && { customerId: key.customer_id }),
    ...(!key.may_name_customers && { mayNameCustomers: false }),
    ...(key.budget_id !== undefined && { budgetId: key.budget_id, budgetShare: key.budget_share }),
  };
}

/** Names for models; absent where there are none. */
function aliasesOf({ model_aliases: aliases }: KeySection): Pick<DeclaredKey, "modelAliases"> {
  if (Object.keys(aliases).length === 0) return {};
  return { modelAliases: aliases as Readonly<Record<string, string>> };
}

/** The members that say something: a key without them is as cheap as one of the store. */
function sparse({ budgetAnchor, perModel }: ReturnType<typeof periodOf>) {
  return {
    ...(budgetAnchor !== "calendar" && { budgetAnchor }),
    ...(Object.keys(perModel).length > 0 && { perModel }),
  };
}

function isBounded({ budgetDuration: _period, ...bounds }: RecordLimits): boolean {
  return Object.values(bounds).some((bound) => bound !== null);
}
