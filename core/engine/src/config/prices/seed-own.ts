/**
 * Built-in prices that the table of @pydantic/genai-prices has no place for: images by the piece,
 * and service tiers. Data. Sources: the list prices as LiteLLM's price map carries them
 * (`model_prices_and_context_window.json`, 2025-11), which give images per pixel for their size and
 * tokens with the suffixes `_flex` and `_priority`. DALL·E: the last list prices; OpenAI has shut
 * both models down (developers.openai.com/api/docs/models/dall-e-3), and its page of dall-e-2 shows
 * these three prices under other sizes, so the sizes are those of the older price list. Stability:
 * credits of a cent, flat (platform.stability.ai/pricing); control and edit services by the notice
 * of 2025-07-09 (stability.ai/api-pricing-update-25); its engines are priced by size and steps, and
 * have none here.
 */

import type { PriceSection } from "../schema/prices.ts";

/** Where these prices were read. */
export const OWN_SOURCE = "@sluice/engine, list prices of 2025-11";

/** Prices by `<table>/<model>`, for models that the table does not have. */
export const OWN_PRICES: Readonly<Record<string, PriceSection>> = {
  "openai/dall-e-2": {
    images: [
      { size: "1024x1024", price: 0.02 },
      { size: "512x512", price: 0.018 },
      { size: "256x256", price: 0.016 },
    ],
  },
  "google/imagen-3.0-generate-002": { images: [{ price: 0.04 }] },
  "google/imagen-4.0-fast-generate-001": { images: [{ price: 0.02 }] },
  "google/imagen-4.0-generate-001": { images: [{ price: 0.04 }] },
  "google/imagen-4.0-ultra-generate-001": { images: [{ price: 0.06 }] },
  "openai/dall-e-3": {
    images: [
      { size: "1024x1024", quality: "standard", price: 0.04 },
      { size: "1024x1792", quality: "standard", price: 0.08 },
      { size: "1792x1024", quality: "standard", price: 0.08 },
      { size: "1024x1024", quality: "hd", price: 0.08 },
      { size: "1024x1792", quality: "hd", price: 0.12 },
      { size: "1792x1024", quality: "hd", price: 0.12 },
    ],
  },
  "stability/stable-image-ultra": { images: [{ price: 0.08 }] },
  "stability/stable-image-core": { images: [{ price: 0.03 }] },
  "stability/sd3.5-large": { images: [{ price: 0.065 }] },
  "stability/sd3.5-large-turbo": { images: [{ price: 0.04 }] },
  "stability/sd3.5-medium": { images: [{ price: 0.035 }] },
  "stability/upscale/fast": { images: [{ price: 0.02 }] },
  "stability/upscale/conservative": { images: [{ price: 0.4 }] },
  "stability/control/sketch": { images: [{ price: 0.05 }] },
  "stability/control/structure": { images: [{ price: 0.05 }] },
  "stability/control/style": { images: [{ price: 0.05 }] },
  "stability/edit/erase": { images: [{ price: 0.05 }] },
  "stability/edit/inpaint": { images: [{ price: 0.05 }] },
  "stability/edit/remove-background": { images: [{ price: 0.05 }] },
  "stability/edit/search-and-replace": { images: [{ price: 0.05 }] },
};

/**
 * Prices of tools by `<table>/<beginning of a model>`, in US dollars for each use; the longest
 * beginning is used. The table of the package has searches of OpenAI and Anthropic for most models.
 * Sources: platform.openai.com/docs/pricing (built-in tools), ai.google.dev/gemini-api/docs/pricing
 * (grounding), platform.claude.com/docs/en/about-claude/pricing (web search), 2025-11.
 */
export const OWN_TOOLS: Readonly<Record<string, NonNullable<PriceSection["tools"]>>> = {
  "openai/": { web_search: 0.01, file_search: 0.0025, code_interpreter: 0.03 },
  "openai/gpt-4o-search": { web_search: 0.025, file_search: 0.0025, code_interpreter: 0.03 },
  "openai/gpt-4o-mini-search": { web_search: 0.025, file_search: 0.0025, code_interpreter: 0.03 },
  "azure/": { file_search: 0.0025, code_interpreter: 0.03 },
  "anthropic/": { web_search: 0.01 },
  "google/claude": { web_search: 0.01 },
  "google/gemini": { web_search: 0.014, maps: 0.014 },
  "google/gemini-1": { web_search: 0.035 },
  "google/gemini-2": { web_search: 0.035, maps: 0.025 },
};

/** Service tiers by `<table>/<model>`, added to what the table says of exactly these names. */
export const OWN_SERVICE_TIERS: Readonly<
  Record<string, NonNullable<PriceSection["service_tiers"]>>
> = {
  "openai/gpt-4o": { priority: { input: 4.25, cache_read: 2.125, output: 17 } },
  "openai/gpt-5": {
    flex: { input: 0.625, cache_read: 0.0625, output: 5 },
    priority: { input: 2.5, cache_read: 0.25, output: 20 },
  },
};
