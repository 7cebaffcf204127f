/** Opens the groups of a generation: the targets of every model, with their shared deployments. */

import { pricedAs } from "@sluice/runtime";
import type { Host, Price, Target } from "@sluice/contract";
import type { EjectionLimits } from "./config.ts";
import { BalanceGroup, type GroupMember } from "./group.ts";
import type { Deployments } from "../deployments/deployment.ts";

type GroupPart = Pick<GroupMember, "deployment" | "callee" | "credential">;

/**
 * The group of every model with a target, by its entry. Deployments are shared by every model,
 * pipeline and generation.
 */
export function openGroups(
  host: Host,
  registry: Deployments,
  limits: EjectionLimits,
): ReadonlyMap<string, BalanceGroup> {
  const { book } = registry;
  const opened = new Map<string, GroupPart>();
  const partOf = (target: Target): GroupPart => {
    const known = opened.get(target.id);
    if (known !== undefined) return known;
    const deployment = host.shared(`deployment:${target.id}`, () =>
      registry.open(target, host.clock),
    );
    const callee = host.providers.find(target.provider)?.callee ?? target.provider;
    deployment.hold(callee);
    host.scope.defer(() => deployment.release(callee));
    const credential = book.holdCredential(callee);
    host.scope.defer(() => book.releaseCredential(callee));
    const part = { deployment, callee, credential };
    opened.set(target.id, part);
    return part;
  };
  return new Map(
    host.models.list().map(({ entry, targets }) => {
      const members = targets.map((target) => memberOf(target, partOf(target), host));
      return [entry, new BalanceGroup(members, limits, book)];
    }),
  );
}

function memberOf(target: Target, part: GroupPart, { prices, providers }: Host): GroupMember {
  const instance = providers.find(target.provider);
  const price =
    target.price ??
    prices.find(instance === undefined ? target.provider : pricedAs(instance), target.model);
  return {
    ...part,
    weight: target.weight ?? 1,
    priority: target.priority ?? 0,
    cost: costOf(price),
    limits: {
      places: target.maxParallel ?? Infinity,
      queue: target.queue ?? 0,
      waitMs: target.queueTimeoutMs ?? 0,
      what: `The deployment ${target.id}`,
      mayHaveAll: true,
    },
    turn: 0,
  };
}

/**
 * A price for comparison: three prompt tokens to one completion token. Targets without a token
 * price come last.
 */
function costOf(price: Price | undefined): number {
  if (price?.free === true) return 0;
  return price?.input === undefined ? Infinity : (price.input * 3 + (price.output ?? 0)) / 4;
}
