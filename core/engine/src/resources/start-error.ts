/** A start that cannot go on; the message is one line for a person. */
export class StartError extends Error {}
