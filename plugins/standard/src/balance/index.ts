/**
 * The step `balance`: chooses the target of a request, tries another after a failure, and ejects
 * targets that keep failing.
 */

import { defineStep } from "@sluice/kit";
import {
  DEPLOYMENTS_KEY,
  type BalanceStrategy,
  type ErrorCode,
  type Exchange,
  GatewayError,
  type Host,
  isGatewayError,
  type Model,
  type Target,
} from "@sluice/contract";
import { type BalanceConfig, balanceSchema, breakerSettings, type StickyBy } from "./config.ts";
import { openGroups } from "./open-groups.ts";
import { Deployments } from "../deployments/deployment.ts";
import { openTargetTokens } from "../limits/target-tokens.ts";
import { type Holder, holderOf, parentOf } from "@sluice/kit/internals";
import { routedModel } from "@sluice/runtime";
import { modelNotFound } from "../models/not-found.ts";
import type { BalanceGroup, GroupMember, GroupRequest } from "./group.ts";
import { stickyKey } from "./sticky.ts";
import { Lease, type LeaseOwner, type LeaseTerms } from "../deployments/lease.ts";
import { isOwnLimit } from "../limits/refusal.ts";
import { mayAttemptAgain, wasCalled } from "../retry/attempt-budget.ts";

export const balance = defineStep<BalanceConfig>({
  name: "balance",
  stability: "beta",
  summary:
    "Chooses the target of a request, tries another one when it fails, and ejects deployments that keep failing.",
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
    requires: [
      { capability: "identity", reason: "the targets are those of a model that the key may use" },
    ],
    before: [
      {
        capability: "retry",
        reason:
          "a retry repeats the call to the same target, and here each retry would choose a new one",
      },
    ],
  },
  create(config, host) {
    const { clock, log, models } = host;
    const settings = breakerSettings(config.breaker);
    const tokens = openTargetTokens(host);
    const registry = host.shared(DEPLOYMENTS_KEY, () => new Deployments(tokens));
    const groups = openGroups(host, registry, settings);
    const terms: SelectionTerms = {
      settings,
      book: registry.book,
      log,
      clock,
      models,
      strategy: config.strategy,
      stickyBy: config.sticky_by,
      stickyHeader: config.sticky_header?.toLowerCase() ?? "",
      maxTargets: config.targets,
    };
    return {
      async run({ exchange }, next) {
        const { model: named } = exchange;
        // A step may have replaced the model that `auth` routed.
        const model = named === undefined ? undefined : routedModel(named, exchange);
        if (named !== undefined && model === undefined) throw modelNotFound(named.id);
        const group = model === undefined ? undefined : groups.get(model.entry);
        // The step `provider` reports a model without a target.
        if (model === undefined || group === undefined || model.targets.length === 0) return next();
        const selection = new Selection(terms, exchange, model, group);
        for (;;) {
          const member = selection.choose();
          if (!selection.takeSlot(member) && !(await selection.waitForSlot(member))) continue;
          const lease = selection.lease(member);
          try {
            await next();
          } catch (error) {
            lease.fail();
            selection.fail(error);
            continue;
          }
          lease.succeed();
          return;
        }
      },
    };
  },
});

/** What all selections of a step share. */
interface SelectionTerms extends LeaseTerms {
  readonly strategy: BalanceStrategy;
  readonly stickyBy: StickyBy;
  /** Lower case; empty without `sticky_by: header`. */
  readonly stickyHeader: string;
  /** Maximum number of different targets for one request. */
  readonly maxTargets: number;
  readonly models: Host["models"];
}

const NONE_LEFT_OUT: readonly GroupMember[] = Object.freeze([]);
/** Retry-After of a model whose deployments are all held. */
const HELD_MS = 30_000;
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

/** Chooses targets for one request until one replies, or until no further one may be tried. */
class Selection implements GroupRequest, LeaseOwner {
  readonly exchange: Exchange;
  readonly targets: readonly Target[];
  readonly holder: Holder;
  readonly leftOut: readonly GroupMember[];
  readonly #terms: SelectionTerms;
  readonly #group: BalanceGroup;
  readonly #model: Model;
  readonly #strategy: BalanceStrategy;
  readonly #stickyKey: string | undefined;
  readonly #tried: GroupMember[];
  #maxTried: number;
  /** The failure to report when no other target answers. */
  #failure: GatewayError | undefined;

  constructor(terms: SelectionTerms, exchange: Exchange, model: Model, group: BalanceGroup) {
    const strategy = model.balance ?? terms.strategy;
    this.exchange = exchange;
    this.targets = allTargets(model, group, terms.models);
    this.holder = holderOf(exchange.identity);
    this.#terms = terms;
    this.#group = group;
    this.#model = model;
    this.#strategy = strategy;
    this.#stickyKey =
      strategy === "sticky" ? stickyKey(exchange, terms.stickyBy, terms.stickyHeader) : undefined;
    this.leftOut = withHeld(leftOut(model, this.targets, group), group, exchange);
    this.#tried = [...this.leftOut];
    this.#maxTried = this.#tried.length + terms.maxTargets;
  }

  get operation(): Exchange["operation"] {
    return this.exchange.operation;
  }

  get isStream(): boolean {
    return this.exchange.request?.stream === true;
  }

  get hasOther(): boolean {
    return (
      this.#tried.length < this.#maxTried && this.#group.hasOther(this.#tried, this, this.#nowMs)
    );
  }

  isServing(member: GroupMember): boolean {
    return this.#group.isServing(member, this, this.#nowMs);
  }

  /**
   * The next member to try. Throws the failure of the earlier ones, or else `overloaded`, when no
   * member can take the request.
   */
  choose(): GroupMember {
    const nowMs = this.#nowMs;
    const { exchange } = this;
    const avoided = calledBeside(exchange, this.#group, this.targets);
    const member = this.#group.choose({
      nowMs,
      request: this,
      stickyKey: this.#stickyKey,
      strategy: this.#strategy,
      tried: this.#tried,
      avoided,
      thinker: exchange.request?.native?.thoughtsOf?.at(-1),
      mayWait: this.#failure === undefined && avoided.size === 0,
      exchange,
    });
    if (member === undefined) {
      exchange.note(
        "balance",
        this.#failure === undefined ? "no target can take the request" : "no other target",
      );
      throw this.#failure ?? overloaded(this.#model, this.#group, nowMs, this);
    }
    this.#tried.push(member);
    const isOnly = this.#group.members.length - this.leftOut.length === 1;
    const why = whyOf(member, this.#strategy, exchange, isOnly);
    exchange.note("balance", why, member.deployment.target.id);
    return member;
  }

  /** Takes a free slot of the member. Returns false when the request must wait for one. */
  takeSlot({ deployment, limits }: GroupMember): boolean {
    if (!deployment.slots.hasRoom(this.holder, limits)) return false;
    deployment.slots.take(this.holder);
    return true;
  }

  /**
   * Waits for a slot of the member. Returns false, without a slot, when the member was ejected
   * meanwhile.
   */
  async waitForSlot(member: GroupMember): Promise<boolean> {
    const { deployment, limits } = member;
    this.exchange.note("balance", "waits for a slot");
    await deployment.slots.wait(this.holder, limits, this.exchange.signal);
    if (this.isServing(member)) return true;
    deployment.slots.release(this.holder);
    this.exchange.note("balance", "ejected during the wait", deployment.target.id);
    return false;
  }

  /** Makes the member the exchange's target. Its slot is taken. */
  lease(member: GroupMember): Lease {
    // A wildcard's targets have the request's own names, in the order of the entry's.
    const target = this.targets[this.#group.members.indexOf(member)] ?? member.deployment.target;
    const lease = new Lease(this.#terms, this, member, target);
    this.exchange.target = target;
    return lease;
  }

  /** Records the failure of the last member. Throws it when no other member may be tried. */
  fail(error: unknown): void {
    const { exchange } = this;
    // A target at a limit was not called: it is skipped like a target without a free slot.
    if (isGatewayError(error) && isOwnLimit(error)) this.#maxTried += 1;
    const isOver =
      this.#tried.length >= this.#maxTried ||
      this.#nowMs >= exchange.lifetime.deadlineMs ||
      !mayPass(error, exchange);
    // A target that was not called keeps its call, also when retries have used the attempt budget.
    if (isOver || !(mayAttemptAgain(exchange) || this.#hasUncalled())) throw error;
    this.#failure = sooner(this.#failure, error as GatewayError);
  }

  get #nowMs(): number {
    return this.#terms.clock.monotonic();
  }

  #hasUncalled(): boolean {
    return this.#group.members.some(
      (member, index) =>
        !this.#tried.includes(member) && !wasCalled(this.exchange, this.targets[index]?.id ?? ""),
    );
  }
}

/** The members that other branches of the exchange have called. */
function calledBeside(
  exchange: Exchange,
  { members }: BalanceGroup,
  targets: readonly Target[],
): ReadonlySet<GroupMember> {
  const parent = parentOf(exchange);
  if (parent === undefined) return NO_MEMBERS;
  const { attempts } = exchange;
  const others = parent.attempts
    .filter((attempt) => !attempts.includes(attempt))
    .map(({ target }) => target.id);
  if (others.length === 0) return NO_MEMBERS;
  return new Set(members.filter((_member, index) => others.includes(targets[index]?.id ?? "")));
}

/** Why a member was chosen, as a constant text. */
function whyOf(
  { deployment }: GroupMember,
  strategy: BalanceStrategy,
  { request }: Exchange,
  isOnly: boolean,
): string {
  if (isOnly) return "the only target";
  const thinker = request?.native?.thoughtsOf?.at(-1);
  return thinker !== undefined && deployment.target.id === thinker
    ? "chosen because it made the reasoning of the conversation"
    : CHOSEN[strategy];
}

/**
 * The targets in the order of the group's members. A stand-in model may have fewer: only those that
 * can serve.
 */
function allTargets(
  model: Model,
  { members }: BalanceGroup,
  models: Host["models"],
): readonly Target[] {
  if (model.targets.length === members.length) return model.targets;
  return models.find(model.id)?.targets ?? model.targets;
}

/** The members whose targets the model of this request does not have. */
function leftOut(
  model: Model,
  targets: readonly Target[],
  { members }: BalanceGroup,
): readonly GroupMember[] {
  if (model.targets === targets) return NONE_LEFT_OUT;
  const ids = new Set(model.targets.map(({ id }) => id));
  return members.filter((_member, index) => !ids.has(targets[index]?.id ?? ""));
}

/** The members that may not be called, with those that an operator holds. */
function withHeld(
  others: readonly GroupMember[],
  { members }: BalanceGroup,
  exchange: Exchange,
): readonly GroupMember[] {
  if (!members.some(({ deployment }) => deployment.isHeld)) return others;
  const held = members.filter((member) => member.deployment.isHeld && !others.includes(member));
  for (const { deployment } of held) exchange.note("balance", "held", deployment.target.id);
  return [...others, ...held];
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

function overloaded(
  model: Model,
  group: BalanceGroup,
  nowMs: number,
  request: GroupRequest,
): GatewayError {
  if (group.members.every(({ deployment }) => deployment.isHeld))
    return new GatewayError(
      "overloaded",
      `Every deployment of the model ${model.id} is held by an operator. Retry after the time in retry-after.`,
      { retryAfterMs: HELD_MS },
    );
  const message = group.isKeptForOthers(nowMs, request)
    ? `This key uses its part of the slots of the model ${model.id}; the free ones are reserved for other keys. Send fewer concurrent requests.`
    : `No deployment of the model ${model.id} can take the request now. Retry after the time in retry-after.`;
  return new GatewayError("overloaded", message, {
    retryAfterMs: group.retryAfterMs(nowMs, request),
  });
}
