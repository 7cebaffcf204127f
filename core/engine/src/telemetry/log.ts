/** The log: pino behind the house's own interface, on standard error. */

import { pino } from "pino";
import { isGatewayError, type Log } from "@sluice/spec";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** A log that writes JSON lines to standard error. */
export function createLog(level: LogLevel): Log {
  const log = wrap(
    pino(
      {
        level,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        serializers: { error: (error: unknown) => describeError(error) },
      },
      pino.destination({ fd: 2, sync: true }),
    ),
  );
  levels.set(log, level);
  return log;
}

const levels = new WeakMap<Log, LogLevel>();

/** The level that a log was made with, for a thread that makes its own. Nothing is said in the name of a log of somebody else's. */
export function levelOf(log: Log): LogLevel {
  return levels.get(log) ?? "silent";
}

const children = new WeakMap<Log, (fields: Readonly<Record<string, unknown>>) => Log>();

/** A log whose every line carries fields. */
export function withFields(log: Log, fields: Readonly<Record<string, unknown>>): Log {
  return children.get(log)?.(fields) ?? log;
}

function wrap(logger: pino.Logger): Log {
  const log: Log = {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
  children.set(log, (fields) => wrap(logger.child(fields)));
  return log;
}

/** Causes shown of one error: a chain may be a circle. */
const MAX_CAUSES = 8;

/** What of an error goes into a log line: names, codes and stacks of the chain of causes. */
function describeError(error: unknown, causes = MAX_CAUSES): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    name: error.name,
    message: error.message,
    ...("code" in error ? { code: error.code } : {}),
    // A gateway error is an outcome, not a fault: its stack says nothing.
    ...(isGatewayError(error) ? {} : { stack: error.stack }),
    ...(error.cause === undefined || causes === 0 ? {} : { cause: describeError(error.cause, causes - 1) }),
  };
}
