/** Makes the parts of one generation. */

import { createAuthority } from "./authority.ts";
import { createGuardrails } from "./guardrails.ts";
import { createHostFactory } from "./host.ts";
import { createCatalog } from "./models.ts";
import type { GenerationParts, ProcessParts, StandIns } from "./parts.ts";
import { createProviders } from "./providers.ts";

/**
 * The parts of a generation. Providers and guardrails are made when they are first read; what
 * `create` of a plugin throws comes from there.
 */
export function createGenerationParts(
  process: ProcessParts,
  given: Pick<GenerationParts, "number" | "snapshot" | "scope">,
  standIns?: StandIns,
): GenerationParts {
  const { snapshot } = given;
  const { definitions, keyRing } = process;
  const catalog = createCatalog(snapshot);
  const authority = createAuthority(snapshot, keyRing);
  const providers = once(() => {
    const real = createProviders(snapshot, definitions, hostFor);
    return standIns?.providers(real) ?? real;
  });
  const guardrails = once(
    () => standIns?.guardrails ?? createGuardrails(snapshot, definitions, hostFor),
  );
  const parts: GenerationParts = {
    ...given,
    process,
    catalog: standIns?.catalog(catalog) ?? catalog,
    authority: standIns?.authority(authority) ?? authority,
    get providers() {
      return providers();
    },
    get guardrails() {
      return guardrails();
    },
    hostFor: (plugin) => hostFor(plugin),
  };
  const hostFor = createHostFactory(parts);
  return parts;
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
