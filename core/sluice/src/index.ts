/** The gateway in a program of one's own: what `@sluice/engine` exports. */

export * from "@sluice/engine";
