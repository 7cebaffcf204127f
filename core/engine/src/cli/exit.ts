/** Exit codes of the command line. */
export const EXIT = { done: 0, findings: 1, usage: 2, notStarted: 3 } as const;
