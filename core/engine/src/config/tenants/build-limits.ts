/** Limits of a snapshot, by either of their spellings in the files. */

import type { Amounts, BudgetAnchor, LimitBlock, SelfService } from "@sluice/contract";
import { configuredNanoUsd } from "@sluice/runtime";
import type { AmountsSection } from "../schema/keys.ts";
import type { BlockSection, SelfServiceSection } from "../schema/tenants.ts";

/** The amounts of a section; those that are not there are `null`. */
export function amountsOf(section: AmountsSection): Amounts {
  const { budget = {} } = section;
  return {
    maxBudgetNanoUsd: nullableNanoUsd(section.max_budget ?? budget.max),
    softBudgetNanoUsd: nullableNanoUsd(section.soft_budget ?? budget.soft),
    budgetDuration: section.budget_duration ?? budget.duration ?? null,
    rpm: section.rpm ?? section.rpm_limit ?? section.requests ?? null,
    tpm: section.tpm ?? section.tpm_limit ?? section.tokens ?? null,
    maxParallelRequests:
      section.max_parallel_requests ?? section.max_parallel ?? section.parallel ?? null,
  };
}

/** The amounts of a section that are there. */
export function givenAmounts(section: AmountsSection): Partial<Amounts> {
  return Object.fromEntries(
    Object.entries(amountsOf(section)).filter(([, value]) => value !== null),
  );
}

/** A section with periods and limits by model. */
export interface PeriodSection extends AmountsSection {
  readonly budget_anchor?: BudgetAnchor;
  readonly per_model: Readonly<Record<string, AmountsSection>>;
}

/** Where periods begin, and the limits by model. */
export function periodOf(section: PeriodSection): Pick<LimitBlock, "budgetAnchor" | "perModel"> {
  return {
    budgetAnchor: section.budget_anchor ?? section.budget?.anchor ?? "calendar",
    perModel: Object.fromEntries(
      Object.entries(section.per_model).map(([model, amounts]) => [model, amountsOf(amounts)]),
    ),
  };
}

/** The whole block of a section. */
export function blockOf(section: BlockSection, alias: string | undefined): LimitBlock {
  return {
    alias: alias ?? null,
    models: section.models,
    ...amountsOf(section),
    ...periodOf(section),
    budgetId: section.budget_id ?? null,
    budgetShare: section.budget_share,
    tags: section.tags,
    allowedTags: section.allowed_tags,
    metadata: section.metadata,
    guardrails: section.guardrails,
    passthrough: section.passthrough,
    blocked: section.blocked,
    expiresAtMs: section.expires === undefined ? null : Date.parse(section.expires),
  };
}

/** A rule of self-service; `null` without one. */
export function selfServiceOf(section: SelfServiceSection | undefined): SelfService | null {
  if (section === undefined) return null;
  const { models, ...bounds } = section.upper_bounds;
  return {
    maxKeys: section.max_keys,
    upperBounds: { ...givenAmounts(bounds), ...(models !== undefined && { models }) },
    defaults: givenAmounts(section.defaults),
  };
}

function nullableNanoUsd(dollars: number | undefined): number | null {
  return dollars === undefined ? null : configuredNanoUsd(dollars);
}
