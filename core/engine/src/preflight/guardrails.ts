/** The guardrails of a sandbox: the candidate's own, with remote ones replaced. */

import type { GuardrailCatalog, GuardrailInstance } from "@sluice/contract";
import type { Definitions } from "../registry/definitions.ts";

/**
 * The catalogue in which every remote guardrail allows everything. Tests call no service and wait
 * for none.
 */
export function sandboxGuardrails(
  real: GuardrailCatalog,
  { guardrails }: Definitions,
): GuardrailCatalog {
  const isRemote = ({ use }: GuardrailInstance): boolean => guardrails.get(use)?.isRemote === true;
  const instances = new Map(
    real.list().map((one) => [one.name, isRemote(one) ? silent(one) : one]),
  );
  const list = [...instances.values()];
  return { find: (name) => instances.get(name), list: () => list };
}

function silent(instance: GuardrailInstance): GuardrailInstance {
  return {
    ...instance,
    guardrail: { reach: instance.guardrail.reach, check: () => ({ kind: "allow" }) },
  };
}
