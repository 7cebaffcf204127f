/**
 * Admin routes: each names its action of the policy and how its object is found. There is no other
 * way to make one.
 */

import type { Readable } from "node:stream";
import type { GatewayError, JsonObject, PolicyAction } from "@sluice/contract";
import type { Asker, Audit } from "./audit.ts";
import type { Grants } from "./grants.ts";
import type { PolicyObject, Visible } from "./may.ts";

/** A request to an admin route, whose caller is known. */
export interface AdminRequest extends Asker {
  readonly query: URLSearchParams;
  readonly parameters: Readonly<Record<string, string>>;
  /** The body of a request that changes something, an empty object for others. */
  readonly body: JsonObject;
  readonly audit: Audit;
  readonly grants: Grants;
  /** Whether the supervisor of the workers passes it on. */
  readonly isForwarded: boolean;
  /** Throws `invalid_field` for a query or a body that the route does not take. */
  readonly checkForm: () => void;
  /**
   * Whether the key itself came with the request, or was entered again in its session within five
   * minutes.
   */
  readonly isConfirmed: boolean;
  /** A signal that aborts when the caller leaves before the answer is written. */
  readonly whenLeft: () => AbortSignal;
}

/** An answer other than JSON. */
export class TextAnswer {
  readonly type: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(type: string, text: string, headers: Readonly<Record<string, string>> = {}) {
    this.type = type;
    this.text = text;
    this.headers = headers;
  }
}

/** An answer that is passed on as it comes, with a status of its own. */
export class StreamAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
  /** Ends what it comes from, also before its end. */
  readonly close: () => void;

  constructor(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Readable,
    close: () => void,
  ) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.close = close;
  }
}

/** An object that a request names, as the policy sees it and as the handler needs it. */
export interface Located<Found> {
  readonly object: PolicyObject;
  readonly found: Found;
  /** The answer for a caller who may not see it: that of an object that does not exist. */
  readonly missing: () => GatewayError;
}

/** Finds the object that a request names. Throws `not_found`. */
export type Locate<Found> = (request: AdminRequest) => Promise<Located<Found>>;

declare const MADE: unique symbol;

/** A route. Only the functions of this file make one. */
export interface AdminRoute {
  readonly action: PolicyAction;
  /** How its object is found. */
  readonly object: "whole" | "listed" | "named" | "several";
  /** Answers with a JSON value or a text, or throws the refusal of the policy. */
  readonly answer: (request: AdminRequest, access: Access) => Promise<unknown>;
  readonly [MADE]: true;
}

/**
 * Routes by `METHOD /path`, with the parameters of `@koa/router`: `:name` is a segment, `*name` one
 * or more.
 */
export type AdminRoutes = Readonly<
  Record<`${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`, AdminRoute>
>;

/** What the policy says about the caller and the action of a request: `access.ts`. */
export interface Access {
  /** Throws `permission_denied` unless the action is allowed at the whole. */
  atWhole(): void;
  /** The objects to list. Throws `permission_denied` when there can be none. */
  visible(): Visible;
  /** Throws `permission_denied`, and the object's `missing` where the caller may not see it. */
  check(located: Located<unknown>): void;
  /** Whether the caller may see the object. */
  sees(located: Located<unknown>): boolean;
}

/** A route about the gateway itself: only roles at the whole open it. */
export function atWhole(
  action: PolicyAction,
  answer: (request: AdminRequest) => Promise<unknown>,
): AdminRoute {
  return made(action, "whole", async (request, access) => {
    access.atWhole();
    request.checkForm();
    return answer(request);
  });
}

/** A route that lists: what the caller may see is part of its query. */
export function listed(
  action: PolicyAction,
  answer: (request: AdminRequest, visible: Visible) => Promise<unknown>,
): AdminRoute {
  return made(action, "listed", async (request, access) => {
    const visible = access.visible();
    request.checkForm();
    return answer(request, visible);
  });
}

/** A route about one object, which exists or is about to. */
export function named<Found>(
  action: PolicyAction,
  locate: Locate<Found>,
  answer: (request: AdminRequest, found: Found) => Promise<unknown>,
): AdminRoute {
  return made(action, "named", async (request, access) => {
    // A caller who may do it nowhere learns nothing about what exists.
    access.visible();
    request.checkForm();
    const located = await locate(request);
    access.check(located);
    return answer(request, located.found);
  });
}

/**
 * A route about several objects. Objects that the caller may not see are left out, as those that do
 * not exist are. One that the caller sees and may not act on refuses the request.
 */
export function several<Found>(
  action: PolicyAction,
  locate: (request: AdminRequest) => Promise<readonly Located<Found>[]>,
  answer: (request: AdminRequest, found: readonly Found[]) => Promise<unknown>,
): AdminRoute {
  return made(action, "several", async (request, access) => {
    access.visible();
    request.checkForm();
    const seen = (await locate(request)).filter((one) => access.sees(one));
    for (const one of seen) access.check(one);
    return answer(
      request,
      seen.map(({ found }) => found),
    );
  });
}

function made(
  action: PolicyAction,
  object: AdminRoute["object"],
  answer: AdminRoute["answer"],
): AdminRoute {
  return { action, object, answer } as AdminRoute;
}
