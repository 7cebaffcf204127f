/** Conditions: which requests a step applies to, as one question without a promise. */

import type { Exchange, Operation } from "@sluice/contract";
import type { StepCondition } from "../../config/snapshot.ts";

/** Whether something holds for an exchange. */
type Applies = (exchange: Exchange) => boolean;

/** Members that are known once the key is, by their name in YAML. */
const OF_IDENTITY = ["key", "user", "team", "tag"] as const;
/** Members that are known once the body is. */
const OF_BODY = ["model", "stream", "tag"] as const;
/** Operations whose requests have no body. */
const WITHOUT_BODY: ReadonlySet<Operation> = new Set<Operation>(["models", "spend"]);

/**
 * The members of a condition that only an authenticated request has. A body is read for those who
 * may send one.
 */
export function membersOfIdentity(condition: StepCondition): readonly string[] {
  return [...new Set([...OF_IDENTITY, ...OF_BODY])].filter(
    (member) => condition[member] !== undefined,
  );
}

/** The members of a condition that never hold in an operation. */
export function membersWithoutSense(
  condition: StepCondition,
  operation: Operation,
): readonly string[] {
  return WITHOUT_BODY.has(operation)
    ? (["model", "stream"] as const).filter((member) => condition[member] !== undefined)
    : [];
}

/** Whether the body must have been read before the condition can be judged. */
export function readsBody(condition: StepCondition): boolean {
  return OF_BODY.some((member) => condition[member] !== undefined);
}

/** A member of a condition that an exchange does not meet. */
export interface Unmet {
  /** The member, as a message names it. */
  readonly text: string;
  /**
   * The request's value. For headers and tags, which clients write, it is only whether there are
   * any.
   */
  readonly about: string;
}

/** One member of a condition. Its text is built once, so that a skipped step builds none. */
interface Member {
  readonly text: string;
  readonly holds: (exchange: Exchange) => boolean;
  readonly has: (exchange: Exchange) => string | undefined;
}

/**
 * The condition as a function that finds the first member which does not hold. `undefined`: the
 * condition holds.
 */
export function compileCondition(
  condition: StepCondition,
): (exchange: Exchange) => Unmet | undefined {
  const members = membersOf(condition);
  return (exchange) => {
    const unmet = members.find(({ holds }) => !holds(exchange));
    return unmet === undefined
      ? undefined
      : { text: unmet.text, about: unmet.has(exchange) ?? "none" };
  };
}

function membersOf({
  model,
  key,
  user,
  team,
  tag,
  header,
  stream,
}: StepCondition): readonly Member[] {
  const members: Member[] = [];
  const add = (name: string, holds: Member["holds"], has: Member["has"]): void => {
    members.push({ text: `passed by: when.${name} does not match`, holds, has });
  };
  if (model !== undefined) {
    const matches = matcher(model);
    const holds: Applies = ({ model: found, request }) =>
      matches(found?.id) || (found === undefined && matches(request?.model));
    add("model", holds, ({ model: found, request }) => found?.id ?? request?.model);
  }
  if (key !== undefined) {
    const matches = matcher(key);
    const holds: Applies = ({ identity }) => matches(identity?.alias) || matches(identity?.keyId);
    add("key", holds, ({ identity }) => identity?.alias ?? identity?.keyId);
  }
  for (const [name, ids, idOf] of [
    ["user", user, ({ identity }) => identity?.userId ?? undefined],
    ["team", team, ({ identity }) => identity?.teamId ?? undefined],
  ] satisfies [string, readonly string[] | undefined, Member["has"]][]) {
    if (ids === undefined) continue;
    const matches = matcher(ids);
    add(name, (exchange) => matches(idOf(exchange)), idOf);
  }
  if (tag !== undefined) {
    const matches = matcher(tag);
    const holds: Applies = ({ identity, request }) =>
      identity?.tags.some(matches) === true || request?.tags.some(matches) === true;
    const hasSome: Applies = ({ identity, request }) =>
      (identity?.tags.length ?? 0) + (request?.tags.length ?? 0) > 0;
    add("tag", holds, (exchange) => (hasSome(exchange) ? "others" : undefined));
  }
  for (const [name, values] of Object.entries(header ?? {})) {
    const matches = matcher(values);
    const holds: Applies = ({ client }) => matches(client.header(name));
    add(`header.${name}`, holds, ({ client }) =>
      client.header(name) === undefined ? undefined : "another value",
    );
  }
  if (stream !== undefined) {
    const holds: Applies = ({ request }) => request !== undefined && request.stream === stream;
    add("stream", holds, ({ request }) =>
      request === undefined ? undefined : String(request.stream),
    );
  }
  return members;
}

/**
 * Compares with names, and with beginnings where a pattern ends in `*`. What is not there matches
 * nothing.
 */
function matcher(patterns: readonly string[]): (text: string | undefined) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith("*")));
  const starts = patterns
    .filter((pattern) => pattern.endsWith("*"))
    .map((pattern) => pattern.slice(0, -1));
  return (text) =>
    text !== undefined && (exact.has(text) || starts.some((start) => text.startsWith(start)));
}
