/** The price name of a provider. */

import type { ProviderInstance } from "@sluice/contract";

/**
 * The name of an instance's models in the price table and the directory: the plugin's, unless the
 * provider has another one.
 */
export function pricedAs({ use, priceAs }: ProviderInstance): string {
  return priceAs ?? use;
}
