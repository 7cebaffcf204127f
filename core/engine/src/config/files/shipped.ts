/** The configuration that comes with this package: in a checkout that of the checkout. */

import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const PACKAGE = resolve(import.meta.dirname, "../../..");
const HOME = existsSync(join(PACKAGE, "pipelines")) ? PACKAGE : resolve(PACKAGE, "../..");

/** The folder of the shipped pipelines. */
export const SHIPPED_PIPELINES: string = join(HOME, "pipelines");

/** The gateway file of a start in a folder that has none. */
export const SHIPPED_GATEWAY: string = join(HOME, "config/gateway.yaml");

/** How a list of pipeline folders names the shipped one. */
export const SHIPPED = "shipped";

/** Whether a file is a shipped pipeline. */
export function isShipped(path: string): boolean {
  return dirname(path) === SHIPPED_PIPELINES;
}

/**
 * The name of a file of the configuration in its digest: where the package is installed is no part
 * of a shipped one.
 */
export function shippedName(path: string): string {
  return `${SHIPPED}/${basename(path)}`;
}
