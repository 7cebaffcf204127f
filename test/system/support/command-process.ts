/** A `sluice` command as tests see it, whichever way it was started. */

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A `sluice` command that runs or has run. */
export interface CommandProcess {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly ended: Promise<ProcessEnd>;
  /** Has no effect on a command that has ended. */
  signal(name: NodeJS.Signals): void;
}

/** What a command is started with. The environment is whole. */
export interface CommandStart {
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** What a process of `gateway-host.ts` writes to both streams when its gateway has stopped. */
export const END_OF_GATEWAY = "\0the gateway has stopped\0\n";
