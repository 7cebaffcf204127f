/** Notices: what a person should know but need not act on. */

import type { ModelSettings, ProviderSettings } from "../snapshot.ts";

/**
 * A line for every provider without its credential and for every model without an available target.
 */
export function noticesOf(
  providers: readonly ProviderSettings[],
  models: readonly ModelSettings[],
): string[] {
  const unavailable = new Set(
    providers.filter(({ missing }) => missing.length > 0).map(({ name }) => name),
  );
  const isServed = (id: string): boolean =>
    models
      .find(
        (model) =>
          model.id === id || (model.id.endsWith("*") && id.startsWith(model.id.slice(0, -1))),
      )
      ?.targets.some(({ provider }) => !unavailable.has(provider)) === true;
  const standsIn = (fallbacks: ModelSettings["fallbacks"]): boolean =>
    fallbacks?.general?.some(isServed) === true;
  return [
    ...providers
      .filter(({ name }) => unavailable.has(name))
      .map(
        ({ name, missing }) =>
          `provider ${name} is unavailable: ${missing.map(describe).join(", ")}`,
      ),
    ...models
      .filter(({ targets }) => targets.every(({ provider }) => unavailable.has(provider)))
      .map(({ id, targets, fallbacks }) => {
        const names = [...new Set(targets.map(({ provider }) => provider))];
        const state = standsIn(fallbacks)
          ? "is served by its fallbacks alone"
          : "is not listed, and requests for it are 404";
        return `model ${id} ${state}: ${names.length === 1 ? "provider" : "providers"} ${names.join(", ")} ${names.length === 1 ? "is" : "are"} unavailable`;
      }),
  ];
}

function describe(written: string): string {
  return `${written} ${written.startsWith("${file:") ? "cannot be read" : "is not set"}`;
}
