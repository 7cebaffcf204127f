/** Whose prices a provider's models have. */

import type { ProviderInstance } from "@sluice/spec";

/** The name under which an instance's models stand in the price table and the directory: the plugin's, unless the provider says another. */
export function pricedAs({ use, priceAs }: ProviderInstance): string {
  return priceAs ?? use;
}
