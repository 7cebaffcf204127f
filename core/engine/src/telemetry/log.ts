/** The log: pino behind the house's own interface, on standard error. */

import { pino } from "pino";
import { isGatewayError, type Log } from "@sluice/contract";

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
  origins.set(log, { level, fields: {} });
  return log;
}

/** What a log was made with. */
export interface LogOrigin {
  readonly level: LogLevel;
  /** The fields of every line. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const origins = new WeakMap<Log, LogOrigin>();

/**
 * What a log was made with, for a thread that makes its own. A log that was not made here has a
 * silent copy.
 */
export function originOf(log: Log): LogOrigin {
  return origins.get(log) ?? { level: "silent", fields: {} };
}

const children = new WeakMap<Log, (fields: Readonly<Record<string, unknown>>) => Log>();

/** A log whose every line carries fields. */
export function withFields(log: Log, fields: Readonly<Record<string, unknown>>): Log {
  const child = children.get(log)?.(fields);
  if (child === undefined) return log;
  const { level, fields: known } = originOf(log);
  origins.set(child, { level, fields: { ...known, ...fields } });
  return child;
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
    ...(error.cause === undefined || causes === 0
      ? {}
      : { cause: describeError(error.cause, causes - 1) }),
  };
}
