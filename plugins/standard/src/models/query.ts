/** The query of the model routes. Unknown parameters are ignored, as in LiteLLM. */

import { type Authority, type FallbackClass, GatewayError, type Identity } from "@sluice/contract";
import { booleanOf, invalidParameter } from "@sluice/runtime";

const CLASSES: readonly FallbackClass[] = ["general", "context_window", "content_policy"];

/** The parameters of a query. */
export interface ModelsQuery {
  /** The ids of wildcards beside those of models. */
  readonly withWildcards: boolean;
  readonly groups: "without" | "with" | "only";
  readonly withMetadata: boolean;
  readonly fallbackClass: FallbackClass;
  readonly teamId: string | undefined;
  /** LiteLLM's name for one deployment; here the id of a model or of a target. */
  readonly deploymentId: string | undefined;
}

/** Reads a query. The last value of a repeated parameter counts. Throws `invalid_field`. */
export function readModelsQuery(query: string): ModelsQuery {
  const parameters: ReadonlyMap<string, string> = new Map(new URLSearchParams(query));
  const is = (name: string): boolean => booleanOf(parameters, name, false);
  const withGroups = is("include_model_access_groups");
  return {
    withWildcards: is("return_wildcard_routes"),
    groups: is("only_model_access_groups") ? "only" : withGroups ? "with" : "without",
    withMetadata: is("include_metadata"),
    fallbackClass: fallbackClassOf(parameters.get("fallback_type")),
    teamId: parameters.get("team_id"),
    deploymentId: parameters.get("litellm_model_id"),
  };
}

/**
 * The identity whose models are shown: the caller's own, bounded by the team that the query names.
 * Throws `permission_denied` for a team that the caller does not belong to; the master key may name
 * any, and gets `not_found` for one that does not exist.
 */
export async function viewerOf(
  identity: Identity,
  teamId: string | undefined,
  authority: Authority,
): Promise<Identity> {
  if (teamId === undefined) return identity;
  if (identity.kind === "key") {
    // The key's models are already bounded by its team.
    if (teamId === identity.teamId) return identity;
    throw new GatewayError("permission_denied", "A key may name its own team only.", {
      param: "team_id",
    });
  }
  const teamModels = await authority.teamModels(teamId);
  if (teamModels === undefined)
    throw new GatewayError(
      "not_found",
      "The team in team_id does not exist. GET /team/list lists the teams.",
      {
        param: "team_id",
      },
    );
  return { ...identity, teamId, ...(teamModels.length > 0 && { modelBounds: [teamModels] }) };
}

function fallbackClassOf(value: string | undefined): FallbackClass {
  if (value === undefined) return "general";
  const found = CLASSES.find((name) => name === value);
  if (found === undefined)
    throw invalidParameter(
      "fallback_type",
      `The query parameter fallback_type must be one of ${CLASSES.join(", ")}.`,
    );
  return found;
}
