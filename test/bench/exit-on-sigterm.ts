/**
 * Preloaded into a profiled server: Node writes a CPU profile when it exits, but not when a signal
 * kills it.
 */

process.once("SIGTERM", () => process.exit());
