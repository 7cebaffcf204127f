/**
 * The deployment family, as Azure's SDKs call it: `/{provider}/deployments/{deployment}/…`. The
 * path names the model.
 */

import { type ClientRequest, GatewayError, type JsonDocument } from "@sluice/contract";

/** Prefixes of the reference API itself. They work with any names of providers. */
const REFERENCE_PREFIXES = new Set(["ref", "openai"]);

/** A model named by a path. */
export interface Deployment {
  /** The deployment's name, percent-escapes resolved; slashes are part of it. */
  readonly model: string;
  /** The same name under the provider's prefix. */
  readonly otherModels: readonly string[];
}

/**
 * The deployment of a request, `undefined` on any other route. Throws `route_not_found` for a
 * prefix that is neither the reference API's nor a provider's, and `invalid_field` for invalid
 * escapes.
 */
export function readDeployment(
  client: ClientRequest,
  isProvider: (name: string) => boolean,
): Deployment | undefined {
  const { deployment, provider = "ref" } = client.parameters;
  if (deployment === undefined) return undefined;
  if (!REFERENCE_PREFIXES.has(provider) && !isProvider(provider)) {
    throw new GatewayError("route_not_found", "This path does not exist.");
  }
  const model = decode(deployment);
  return { model, otherModels: provider === "ref" ? [] : [`${provider}/${model}`] };
}

/** A body with the path's model in place of its own. */
export function withDeployment(document: JsonDocument, { model }: Deployment): JsonDocument {
  return document.with({ model });
}

function decode(deployment: string): string {
  try {
    return decodeURIComponent(deployment);
  } catch {
    throw new GatewayError(
      "invalid_field",
      "The deployment in the path is not valid UTF-8. Percent-encode its name.",
      {
        param: "deployment",
      },
    );
  }
}
