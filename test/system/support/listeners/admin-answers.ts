/**
 * Holds every answer of an admin listener that a test reads with `fetch` to the schema of its
 * route, and fails the request otherwise.
 */

import { ADMIN_ROUTES, type RouteSchema, type RouteSchemas } from "@sluice/admin-api";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

const ROUTES: RouteSchemas = ADMIN_ROUTES;
const listeners = new Set<string>();
const validators = new Map<RouteSchema, ValidateFunction>();
/** Schemas of routes have words for messages and formats for readers. */
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const patterns = Object.entries(ROUTES)
  .filter(([name]) => /[:*]/.test(name))
  .map(([name, route]) => ({ pattern: patternOf(name), route }));

let isInstalled = false;

/** Holds the answers of one listener from now on. */
export function holdAdminAnswers(adminUrl: string): void {
  listeners.add(new URL(adminUrl).origin);
  if (isInstalled) return;
  isInstalled = true;
  const plain = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const response = await plain(input, init);
    const { url, method } = input instanceof Request ? input : { url: String(input), method: "" };
    await hold(new URL(url), (init?.method ?? method) || "GET", response);
    return response;
  };
}

/** Listeners of stopped gateways: another server may have their port. */
export function releaseAdminAnswers(adminUrl: string): void {
  listeners.delete(new URL(adminUrl).origin);
}

async function hold(url: URL, method: string, response: Response): Promise<void> {
  if (response.status !== 200 || !listeners.has(url.origin)) return;
  if (response.headers.get("content-type")?.startsWith("application/json") !== true) return;
  const name = `${method} ${url.pathname}`;
  const route = ROUTES[name] ?? patterns.find(({ pattern }) => pattern.test(name))?.route;
  if (route === undefined) return;
  const faults = faultsOf(route, await response.clone().json());
  if (faults !== "")
    throw new Error(`The answer of ${name} is not that of @sluice/admin-api: ${faults}`);
}

/** What is wrong with an answer; empty where nothing is. */
function faultsOf(route: RouteSchema, answer: unknown): string {
  let validate = validators.get(route);
  if (validate === undefined) {
    validate = ajv.compile(route.answer);
    validators.set(route, validate);
  }
  if (validate(answer)) return "";
  return (validate.errors ?? [])
    .slice(0, 8)
    .map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
    .join("; ");
}

function patternOf(name: string): RegExp {
  const source = name
    .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/:\w+/g, "[^/]+")
    .replaceAll(/\*\w+/g, ".+");
  return new RegExp(`^${source}$`);
}
