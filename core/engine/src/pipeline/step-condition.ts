/** Conditions: which requests a step applies to, as one question without a promise. */

import type { Exchange, Operation } from "@sluice/spec";
import type { StepCondition } from "../config/snapshot.ts";

/** Whether a step applies to an exchange. */
export type Applies = (exchange: Exchange) => boolean;

/** Members that are known once the key is, by their name in YAML. */
const OF_IDENTITY = ["key", "user", "team", "tag"] as const;
/** Members that are known once the body is. */
const OF_BODY = ["model", "stream", "tag"] as const;
/** Operations whose requests have no body. */
const WITHOUT_BODY: ReadonlySet<Operation> = new Set<Operation>(["models", "spend"]);

/** The members of a condition that only an authenticated request has. A body is read for those who may send one. */
export function membersOfIdentity(condition: StepCondition): readonly string[] {
  return [...new Set([...OF_IDENTITY, ...OF_BODY])].filter((member) => condition[member] !== undefined);
}

/** The members of a condition that never hold in an operation. */
export function membersWithoutSense(condition: StepCondition, operation: Operation): readonly string[] {
  return WITHOUT_BODY.has(operation) ? (["model", "stream"] as const).filter((member) => condition[member] !== undefined) : [];
}

/** Whether the body must have been read before the condition can be judged. */
export function readsBody(condition: StepCondition): boolean {
  return OF_BODY.some((member) => condition[member] !== undefined);
}

/** The condition as a function. It holds when every member does. */
export function compileCondition(condition: StepCondition): Applies {
  const { model, key, user, team, tag, header, stream } = condition;
  const tests: Applies[] = [];
  if (model !== undefined) {
    const matches = matcher(model);
    tests.push(({ model: found, request }) => matches(found?.id) || (found === undefined && matches(request?.model)));
  }
  if (key !== undefined) {
    const matches = matcher(key);
    tests.push(({ identity }) => matches(identity?.alias) || matches(identity?.keyId));
  }
  if (user !== undefined) {
    const matches = matcher(user);
    tests.push(({ identity }) => matches(identity?.userId));
  }
  if (team !== undefined) {
    const matches = matcher(team);
    tests.push(({ identity }) => matches(identity?.teamId));
  }
  if (tag !== undefined) {
    const matches = matcher(tag);
    tests.push(({ identity, request }) => identity?.tags.some(matches) === true || request?.tags.some(matches) === true);
  }
  for (const [name, values] of Object.entries(header ?? {})) {
    const matches = matcher(values);
    tests.push(({ client }) => matches(client.header(name)));
  }
  if (stream !== undefined) tests.push(({ request }) => request !== undefined && request.stream === stream);
  const [only] = tests;
  return tests.length === 1 && only !== undefined ? only : (exchange) => tests.every((test) => test(exchange));
}

/** Compares with names, and with beginnings where a pattern ends in `*`. What is not there matches nothing. */
function matcher(patterns: readonly string[]): (text: string | undefined) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith("*")));
  const starts = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1));
  return (text) => text !== undefined && (exact.has(text) || starts.some((start) => text.startsWith(start)));
}
