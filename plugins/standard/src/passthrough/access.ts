/**
 * Access to native endpoints: a provider declares them, an operator may open others, and a key's
 * model list narrows them.
 */

import { COMMON_ENDPOINTS } from "@sluice/kit/internals";
import {
  createNativeMatcher,
  createOpenMatcher,
  type NativeMatch,
  type NativeMatcher,
  pathFromRoot,
} from "@sluice/runtime/passthrough";
import {
  GatewayError,
  type HttpCall,
  type Identity,
  type ProviderInstance,
  type Target,
} from "@sluice/contract";
import { isLimited, mayUseTarget, type ModelRules } from "../models/bounds.ts";
import { modelNotFound } from "../models/not-found.ts";

/** The compiled access to a provider's native endpoints. */
export interface NativeAccess {
  readonly provider: string;
  readonly root: string;
  /** Whether the provider declares endpoints. */
  readonly declares: boolean;
  readonly match: NativeMatcher;
  readonly isOpen: (method: HttpCall["method"], path: string) => boolean;
}

/** The endpoint of a call. */
export interface NativePlace {
  /** The path below the native root. */
  readonly path: string;
  /** `undefined` for an open path that is no declared endpoint. */
  readonly match: NativeMatch | undefined;
}

const matchCommon = createNativeMatcher(COMMON_ENDPOINTS);

/** The access to a provider. */
export function createNativeAccess({
  name,
  translation,
  endpoints: open = "inference",
}: ProviderInstance): NativeAccess {
  const { root = "", endpoints } = translation.native ?? {};
  const opened = typeof open === "string" ? undefined : createOpenMatcher(open);
  return {
    provider: name,
    root,
    declares: endpoints !== undefined,
    match: endpoints === undefined ? matchCommon : createNativeMatcher(endpoints),
    // Every path of a provider without declarations is an endpoint.
    isOpen: (method, path) =>
      open === "all" ||
      opened?.(method, path) === true ||
      (endpoints === undefined && method === "POST"),
  };
}

/**
 * The endpoint of a permitted call. Throws `permission_denied` for any other, and names the option
 * that opens it.
 */
export function placeOf(
  access: NativeAccess,
  { method, url }: HttpCall,
  identity: Identity,
): NativePlace {
  const path = pathFromRoot(url, access);
  const match = path === undefined ? undefined : access.match(method, path);
  const place = { path: path ?? "", match };
  if (match !== undefined || identity.kind === "master") return place;
  if (isLimited(identity)) throw namesNoModel();
  if (identity.passthrough === true || access.isOpen(method, place.path)) return place;
  throw new GatewayError(
    "permission_denied",
    `${method} /${place.path.slice(0, 200)} is not open at the provider ${access.provider}: clients reach its inference endpoints. ` +
      "The operator opens others by `endpoints` of the provider, or by `passthrough: true` of a key without a model list.",
  );
}

/**
 * A key that is limited to models may reach those only: a catalogue model it may use must have this
 * target, or its list must name `provider/model`. A request that names no model is not for such a
 * key.
 */
export function checkModel(identity: Identity, target: Target, rules: ModelRules): void {
  if (!isLimited(identity)) return;
  if (target.model === "") throw namesNoModel();
  if (mayUseTarget(identity, target, rules)) return;
  throw modelNotFound(target.model);
}

function namesNoModel(): GatewayError {
  const message =
    "This key has a model list, and the request names no model. Name a model, or use a key without a model list.";
  return new GatewayError("permission_denied", message, { param: "model" });
}
