/** A Redis for tests: the one of this machine, when there is one. */

import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { createClient } from "@redis/client";
import { Secret, type StateDriver } from "@sluice/contract";
import { fakeClock, fakeLog } from "@sluice/testing";
import definition from "./index.ts";

/** Where the tests look for a Redis. */
export const REDIS = { host: "127.0.0.1", port: 6379 } as const;

/** Whether a Redis answers there within a second. */
export async function redisAnswers(): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(REDIS);
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.on("error", () => end(false));
    socket.on("connect", () => socket.write("PING\r\n"));
    socket.on("data", (bytes) => end(bytes.toString().startsWith("+PONG")));
  });
}

/** A driver with a prefix of this run; `close` removes what it left. */
export function testDriver(
  parts: { readonly url?: string; readonly prefix?: string; readonly timeout?: string } = {},
): StateDriver {
  const {
    url = `redis://${REDIS.host}:${REDIS.port}/9`,
    prefix = runPrefix(),
    timeout = "5s",
  } = parts;
  return definition.create(
    {
      url: new Secret("REDIS_URL", url),
      prefix,
      command_timeout: timeout,
      connect_timeout: "10s",
      max_entry: "64kb",
    },
    { log: fakeLog([]), clock: fakeClock() },
  );
}

/** Prints a line beside the tests. */
export function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}

const run = randomUUID();

/** The prefix of this file's tests. */
export const runPrefix = (): string => `{sluice-test-${run}}:`;

/** Runs a command on a connection of its own. */
export async function adminCommand(...parts: readonly string[]): Promise<unknown> {
  const client = createClient({ url: `redis://${REDIS.host}:${REDIS.port}/9` });
  await client.connect();
  try {
    return await client.sendCommand([...parts]);
  } finally {
    client.destroy();
  }
}

/** Removes every key of this file's tests. */
export async function removeKeys(): Promise<void> {
  const keys = (await adminCommand("KEYS", `${runPrefix()}*`)) as readonly string[];
  if (keys.length > 0) await adminCommand("DEL", ...keys);
}
