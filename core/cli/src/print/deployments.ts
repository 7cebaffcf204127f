/** Prints the deployments that get no traffic, or little. */

interface DeploymentStatus {
  readonly deployment: string;
  readonly health: string;
  readonly ejected_until: string | null;
  readonly consecutive_failures: number;
  readonly credential_refused: boolean;
  readonly ejected_models: readonly {
    readonly model: string;
    readonly operation: string;
    readonly breaker: string;
    readonly ejected_until: string | null;
  }[];
}

/**
 * Prints the health of each deployment that is not healthy. Takes the answer of the admin
 * interface.
 */
export function printDeployments(answer: unknown): void {
  const { deployments = [] } = (answer ?? {}) as {
    readonly deployments?: readonly DeploymentStatus[];
  };
  for (const view of deployments) {
    const {
      deployment,
      health,
      consecutive_failures: failures,
      credential_refused: isRefused,
    } = view;
    const count = failures > 0 ? `, ${failures} failures in a row` : "";
    if (isRefused) console.log(`deployment ${deployment}: the provider refuses the credential`);
    if (health !== "healthy")
      console.log(`deployment ${deployment} is ${health}${until(view.ejected_until)}${count}`);
    for (const { model, operation, breaker, ejected_until: end } of view.ejected_models) {
      if (breaker !== "closed")
        console.log(
          `deployment ${deployment}: the model ${model} is ejected for ${operation}${until(end)}`,
        );
    }
  }
}

function until(time: string | null): string {
  return time === null ? "" : ` until ${time}`;
}
