/** The step `balance`: chooses the target of a request, tries another after a failure, and ejects targets that keep failing. */

import { defineStep } from "@sluice/kit";
import { pricedAs } from "@sluice/runtime";
import { openTargetTokens } from "../limits/target-tokens.ts";
import { holderOf, parentOf } from "@sluice/kit/internals";
import {
  type BalanceStrategy,
  DEPLOYMENTS_KEY,
  type ErrorCode,
  type Exchange,
  GatewayError,
  type Host,
  isGatewayError,
  type Model,
  type Price,
  type Target,
} from "@sluice/contract";
import { type BalanceConfig, balanceSchema, breakerSettings, type EjectionLimits } from "./config.ts";
import { BalanceGroup, type GroupMember, type GroupRequest } from "./group.ts";
import { stickyKey } from "./sticky.ts";
import { Deployments } from "../deployments/deployment.ts";
import { Lease } from "../deployments/lease.ts";
import { isOwnLimit } from "../limits/refusal.ts";
import { mayAttemptAgain, wasCalled } from "../retry/attempt-budget.ts";

const NO_MEMBERS: ReadonlySet<GroupMember> = new Set();

/** Failures that the same target would repeat, and that another target may not have. */
const ELSEWHERE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "upstream_auth_failed",
  "upstream_model_denied",
  "upstream_rate_limited",
  "upstream_unreachable",
]);

/** The explanation of a choice. The texts are constants, because every request has one. */
const CHOSEN: Readonly<Record<BalanceStrategy, string>> = {
  weighted: "chosen by weighted",
  priority: "chosen by priority",
  least_busy: "chosen by least_busy",
  lowest_latency: "chosen by lowest_latency",
  lowest_cost: "chosen by lowest_cost",
  sticky: "chosen by sticky",
};

export const balance = defineStep<BalanceConfig>({
  name: "balance",
  stability: "beta",
  summary: "Chooses the target of a request, tries another one when it fails, and ejects deployments that keep failing.",
  config: balanceSchema,
  check: ({ sticky_by: by, sticky_header: header }) =>
    (by === "header") === (header !== undefined)
      ? []
      : [
          {
            path: [header === undefined ? "sticky_by" : "sticky_header"],
            message: "`sticky_by: header` and `sticky_header` belong together",
            fix: "write both, or none",
          },
        ],
  operations: ["chat", "embeddings", "images"],
  traits: { reentrant: true },
  order: {
    provides: ["target"],
    requires: [{ capability: "identity", reason: "the targets are those of a model that the key may use" }],
    before: [
      { capability: "retry", reason: "a retry repeats the call to the same target, and here each retry would choose a new one" },
    ],
  },
  create(config, host) {
    const { clock, log } = host;
    const settings = breakerSettings(config.breaker);
    const tokens = openTargetTokens(host);
    const registry = host.shared(DEPLOYMENTS_KEY, () => new Deployments(tokens));
    const { book } = registry;
    const groups = openGroups(host, registry, settings);
    const header = config.sticky_header?.toLowerCase() ?? "";
    const now = (): number => clock.monotonic();
    return {
      async run({ exchange }, next) {
        const { model } = exchange;
        const group = model === undefined ? undefined : groups.get(model.entry);
        // The step `provider` reports a model without a target.
        if (model === undefined || group === undefined || model.targets.length === 0) return next();
        const strategy = model.balance ?? config.strategy;
        const stickTo = strategy === "sticky" ? stickyKey(exchange, config.sticky_by, header) : undefined;
        const targets = allTargets(model, group, host);
        const holder = holderOf(exchange.identity);
        const request: GroupRequest = {
          targets,
          operation: exchange.operation,
          isStream: exchange.request?.stream === true,
          holder,
        };
        const tried = [...leftOut(model, targets, group)];
        let mostTried = tried.length + config.targets;
        let failure: GatewayError | undefined;
        for (;;) {
          const nowMs = now();
          const parent = parentOf(exchange);
          const avoided = parent === undefined ? NO_MEMBERS : calledBeside(exchange, parent, targets, group);
          const mayWait = failure === undefined && avoided.size === 0;
          const member = group.choose({ nowMs, request, stickyKey: stickTo, strategy, tried, avoided, mayWait, exchange });
          if (member === undefined) {
            exchange.note("balance", failure === undefined ? "no target can take the request" : "no other target");
            throw failure ?? overloaded(model, group, nowMs, request);
          }
          tried.push(member);
          const { deployment, limits } = member;
          exchange.note("balance", group.members.length === 1 ? "the only target" : CHOSEN[strategy], deployment.target.id);
          if (deployment.slots.hasRoom(holder, limits)) deployment.slots.take(holder);
          else {
            exchange.note("balance", "waits for a slot");
            await deployment.slots.wait(holder, limits, exchange.signal);
            if (!group.isServing(member, request, now())) {
              deployment.slots.release(holder);
              exchange.note("balance", "ejected during the wait", deployment.target.id);
              continue;
            }
          }
          // A wildcard's targets have the request's own names, in the order of the entry's.
          const target = targets[group.members.indexOf(member)] ?? deployment.target;
          const lease = new Lease({
            member,
            target,
            exchange,
            settings,
            book,
            log,
            now,
            isServing: () => group.isServing(member, request, now()),
            hasOther: () => tried.length < mostTried && group.hasOther(tried, request, now()),
          });
          exchange.target = target;
          try {
            await next();
          } catch (error) {
            lease.fail();
            // A target at a limit was not called: it is skipped like a target without a free slot.
            if (isGatewayError(error) && isOwnLimit(error)) mostTried += 1;
            const isOver = tried.length >= mostTried || now() >= exchange.lifetime.deadlineMs || !mayPass(error, exchange);
            // A target that was not called keeps its call, also when retries have used the attempt budget.
            const isNew = (member: GroupMember, index: number): boolean =>
              !tried.includes(member) && !wasCalled(exchange, targets[index]?.id ?? "");
            if (isOver || !(mayAttemptAgain(exchange) || group.members.some(isNew))) throw error;
            failure = sooner(failure, error as GatewayError);
            continue;
          }
          lease.succeed();
          return;
        }
      },
    };
  },
});

/** The group of every model with a target, by its entry. Deployments are shared by every model, pipeline and generation. */
function openGroups(host: Host, registry: Deployments, limits: EjectionLimits): ReadonlyMap<string, BalanceGroup> {
  const { book } = registry;
  const opened = new Map<string, GroupPart>();
  const partOf = (target: Target): GroupPart => {
    const known = opened.get(target.id);
    if (known !== undefined) return known;
    const deployment = host.shared(`deployment:${target.id}`, () => registry.open(target, host.clock));
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

type GroupPart = Pick<GroupMember, "deployment" | "callee" | "credential">;

function memberOf(target: Target, part: GroupPart, { prices, providers }: Host): GroupMember {
  const instance = providers.find(target.provider);
  const price = target.price ?? prices.find(instance === undefined ? target.provider : pricedAs(instance), target.model);
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

/** The targets in the order of the group's members. A stand-in model may have fewer: only those that can serve. */
function allTargets(model: Model, { members }: BalanceGroup, { models }: Host): readonly Target[] {
  if (model.targets.length === members.length) return model.targets;
  return models.find(model.id)?.targets ?? model.targets;
}

/** The members whose targets the model of this request does not have. */
function leftOut(model: Model, targets: readonly Target[], { members }: BalanceGroup): readonly GroupMember[] {
  if (model.targets === targets) return [];
  const ids = new Set(model.targets.map(({ id }) => id));
  return members.filter((_member, index) => !ids.has(targets[index]?.id ?? ""));
}

/** The members that other branches of one exchange have called. */
function calledBeside(
  { attempts }: Exchange,
  parent: Exchange,
  targets: readonly Target[],
  { members }: BalanceGroup,
): ReadonlySet<GroupMember> {
  const others = parent.attempts.filter((attempt) => !attempts.includes(attempt)).map(({ target }) => target.id);
  if (others.length === 0) return NO_MEMBERS;
  return new Set(members.filter((_member, index) => others.includes(targets[index]?.id ?? "")));
}

/** A price for comparison: three prompt tokens to one completion token. Targets without a token price come last. */
function costOf(price: Price | undefined): number {
  if (price?.free === true) return 0;
  return price?.input === undefined ? Infinity : (price.input * 3 + (price.output ?? 0)) / 4;
}

/** The error of several targets: the limit with the shortest wait, or else the last failure. */
function sooner(before: GatewayError | undefined, error: GatewayError): GatewayError {
  if (before === undefined || !isOwnLimit(error)) return error;
  if (!isOwnLimit(before)) return before;
  return (before.retryAfterMs ?? Infinity) <= (error.retryAfterMs ?? Infinity) ? before : error;
}

/** Whether another target may succeed: the failure was the deployment's own. */
function mayPass(error: unknown, { signal }: Exchange): boolean {
  if (!isGatewayError(error) || signal.aborted) return false;
  return error.retryable || ELSEWHERE.has(error.code);
}

function overloaded(model: Model, group: BalanceGroup, nowMs: number, request: GroupRequest): GatewayError {
  const message = group.isKeptForOthers(nowMs, request)
    ? `This key uses its part of the slots of the model ${model.id}; the free ones are reserved for other keys. Send fewer concurrent requests.`
    : `No deployment of the model ${model.id} can take the request now. Retry after the time in retry-after.`;
  return new GatewayError("overloaded", message, { retryAfterMs: group.retryAfterMs(nowMs, request) });
}
