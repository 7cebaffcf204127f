/** How a command ends. */

/** Exit codes of the command line. */
export const EXIT = { done: 0, findings: 1, usage: 2, notStarted: 3 } as const;

/** A command that cannot do its work; the message is one line for a person. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
