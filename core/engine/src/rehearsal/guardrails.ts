/** The guardrails of a rehearsal: the candidate's own, but for those that ask a service. */

import type { GuardrailCatalog, GuardrailInstance } from "@sluice/spec";
import type { Definitions } from "../registry/definitions.ts";

/** The catalogue in which every guardrail that would ask somebody allows everything: no test leaves the process, or waits for a service. */
export function rehearsingGuardrails(real: GuardrailCatalog, { guardrails }: Definitions): GuardrailCatalog {
  const isRemote = ({ use }: GuardrailInstance): boolean => guardrails.get(use)?.isRemote === true;
  const instances = new Map(real.list().map((one) => [one.name, isRemote(one) ? silent(one) : one]));
  const list = [...instances.values()];
  return { find: (name) => instances.get(name), list: () => list };
}

function silent(instance: GuardrailInstance): GuardrailInstance {
  return { ...instance, guardrail: { reach: instance.guardrail.reach, check: () => ({ kind: "allow" }) } };
}
