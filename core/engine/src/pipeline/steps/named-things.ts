/**
 * Checks the providers and models that steps name: a limit on an unknown name would limit nothing.
 */

import type { NamedThing, StepDefinition } from "@sluice/contract";
import { nameFix } from "../../config/validate/explain.ts";
import type { Finding } from "../../config/finding.ts";
import type { PipelineSettings, Snapshot } from "../../config/snapshot.ts";

/** What may be named. */
export type Known = Pick<Snapshot, "guardrails" | "providers" | "models">;

/** Names in the options of a pipeline's steps that gateway.yaml does not have. */
export function nameFaults(
  { steps }: PipelineSettings,
  definitions: ReadonlyMap<string, StepDefinition<never>>,
  known: Known,
): Finding[] {
  return steps.flatMap(({ use, options, at }) =>
    (definitions.get(use)?.inspect?.(options as never).names ?? []).flatMap(({ kind, name }) => {
      const section = kind === "provider" ? "providers" : "models";
      const names =
        kind === "provider"
          ? known.providers.map((provider) => provider.name)
          : known.models.map(({ id }) => id);
      if (isThere(kind, name, names)) return [];
      const message = `The step ${use} names the ${section.slice(0, -1)} "${name}", which is not under \`${section}\` of gateway.yaml.`;
      return [{ at, message, fix: nameFix(name, names, `add it to \`${section}\``) }];
    }),
  );
}

function isThere(kind: NamedThing["kind"], name: string, names: readonly string[]): boolean {
  if (names.includes(name)) return true;
  return (
    kind === "asked_model" &&
    names.some((id) => id.endsWith("*") && name.startsWith(id.slice(0, -1)))
  );
}
