/** The contract of an extension, as a suite that any package runs in one line. */

import {
  type EdgeReading,
  type EdgeReply,
  type EdgeRequest,
  ERROR_CODES,
  type ErrorCode,
  type Extension,
  type ExtensionDefinition,
  GatewayError,
  isGatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { isGatewayOnly, OWN_GATEWAY_FIELDS } from "@sluice/runtime/dialect";
import { ContractFault } from "../contract/fault.ts";
import { fakeClient, fakeExchange } from "../fake-exchange.ts";
import { fakeHost } from "../fake-host.ts";
import { amount } from "../proof.ts";

/** The functions of a test runner, as vitest has them. */
export interface ExtensionRunner {
  readonly describe: (name: string, define: () => void) => void;
  readonly it: (name: string, run: () => void) => void;
}

/** What a suite is run with. */
export interface ExtensionContractOptions<C> {
  readonly config: C;
  /** Names of the body fields and of the headers that its reader knows. */
  readonly fields: readonly string[];
  readonly headers: readonly string[];
}

/** Values of every kind, for fields and headers that expect another one. */
const ODD: readonly JsonValue[] = [
  null,
  true,
  -1,
  0.1,
  1e308,
  "",
  "text",
  "a,b",
  "é\u0000",
  [],
  [null],
  [{ model: 1 }],
  {},
  { a: { b: [1] } },
  { model: null, messages: "x" },
];

/**
 * Defines the suite: its routes and aliases are well-formed; a request without anything of the
 * product is left as it is; odd values are read or refused, and never change the request itself;
 * every reply has headers that can be sent; every error keeps a status of a failure.
 */
export function extensionContract<C>(
  runner: ExtensionRunner,
  definition: ExtensionDefinition<C>,
  options: ExtensionContractOptions<C>,
): void {
  const { describe, it } = runner;
  const extension = definition.create(options.config, fakeHost());
  describe(`the contract of extensions: ${definition.name}`, () => {
    it("has routes and aliases that can be served", () => checkRoutes(extension));
    it("leaves a plain request as it is", () => checkPlain(extension));
    it("reads odd values, or refuses them", () => checkOdd(extension, options));
    it("writes headers that can be sent, for every reply", () => checkHeaders(extension));
    it("keeps the status of a failure, for every error", () => checkErrors(extension));
  });
}

const ROUTE = /^(?:GET|POST|PUT|PATCH|DELETE) (?:\/(?:\{\w+(?:\.\.\.)?\}|[\w.:-]+))+$/;

function checkRoutes({ routes = [], aliases = [] }: Extension): void {
  const seen = new Set<string>();
  for (const { listener, method, path, access } of routes) {
    const name = `${listener} ${method} ${path}`;
    if (!ROUTE.test(`${method} ${path}`)) fault(`the route ${name} is not well-formed`);
    if (seen.has(name)) fault(`the route ${name} stands twice`);
    if (access === "open" && listener === "admin")
      fault(`the route ${name} is open, on the admin listener`);
    seen.add(name);
  }
  for (const { route, of } of aliases)
    for (const name of [route, of]) if (!ROUTE.test(name)) fault(`the alias ${name} is no route`);
}

function checkPlain({ read }: Extension): void {
  const body: JsonObject = { model: "m", messages: [{ role: "user", content: "Hello." }] };
  const found = read?.(requestOf(body, {}));
  if (found !== undefined && Object.keys(found).length > 0)
    fault(`a plain request has ${Object.keys(found).join(", ")}`);
}

function checkOdd<C>({ read }: Extension, options: ExtensionContractOptions<C>): void {
  if (read === undefined) return;
  const count = amount(300, 20_000);
  for (let turn = 0; turn < count; turn += 1) {
    const pick = <T>(list: readonly T[], salt: number): T =>
      list[(turn * 31 + salt * 17 + Math.floor(turn / list.length)) % list.length] as T;
    const body: Record<string, JsonValue> = { model: "m", messages: [] };
    const headers: Record<string, string> = {};
    options.fields.forEach((name, index) => {
      if ((turn + index) % 3 !== 0) body[name] = pick(ODD, index);
    });
    options.headers.forEach((name, index) => {
      if ((turn + index) % 4 === 0) headers[name] = String(JSON.stringify(pick(ODD, index)));
    });
    const request = requestOf(body, headers);
    const before = JSON.stringify(body);
    checkReading(
      readOrRefused(() => read(request)),
      body,
    );
    if (JSON.stringify(body) !== before) fault(`the reader changed the body ${before}`);
    const again = JSON.stringify(readOrRefused(() => read(request)) ?? null);
    if (again !== JSON.stringify(readOrRefused(() => read(request)) ?? null))
      fault(`the reader reads ${before} differently each time`);
  }
}

/** A reading; `undefined` for a refusal. */
function readOrRefused(read: () => EdgeReading | undefined): EdgeReading | undefined {
  try {
    return read();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    if (error.status >= 500) fault(`an odd value is refused with ${error.status}`);
    return undefined;
  }
}

function checkReading(reading: EdgeReading | undefined, body: JsonObject): void {
  for (const name of reading?.taken ?? [])
    if (!isGatewayOnly(name) || name === "guardrails") fault(`the reader takes ${name}`);
  for (const name of Object.keys(reading?.fields ?? {})) {
    const isHidden = name === "metadata" && typeof body.metadata === "object";
    if (!OWN_GATEWAY_FIELDS.includes(name) || name === "guardrails" || isHidden)
      fault(`the reader sets ${name}`);
  }
}

function checkHeaders({ headers }: Extension): void {
  if (headers === undefined) return;
  const failure = new GatewayError("internal_error", "Failed.");
  const replies: EdgeReply[] = [
    { status: 200, costNanoUsd: 1, failure: undefined },
    { status: 200, costNanoUsd: undefined, failure: undefined },
    { status: 500, costNanoUsd: undefined, failure },
  ].map((reply) => ({
    ...reply,
    exchange: fakeExchange({}),
    timeoutMs: 600_000,
    header: () => undefined,
  }));
  for (const reply of replies)
    for (const [name, value] of Object.entries(headers(reply)))
      if (!/^x-(?!sluice-)[a-z0-9_-]+$/.test(name) || !/^[\x20-\x7e]*$/.test(value))
        fault(`the header ${name}: ${value} cannot be sent`);
}

function checkErrors({ error }: Extension): void {
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    const said = error?.(new GatewayError(code, "Refused."));
    const { status = 400 } = said ?? {};
    if (!Number.isInteger(status) || status < 400 || status > 599)
      fault(`the error ${code} has the status ${status}`);
  }
}

function requestOf(body: JsonObject, headers: Readonly<Record<string, string>>): EdgeRequest {
  const client = fakeClient(headers);
  return { operation: "chat", client, identity: undefined, mayAnswer: true, body };
}

function fault(what: string): never {
  throw new ContractFault(`${what}.`);
}
