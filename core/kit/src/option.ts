/** Options that most providers share, for the `config` of a definition. */

export {
  addressOption as address,
  apiKeyOption as apiKey,
  baseUrlOption as baseUrl,
  embeddingFormatsOption as embeddingFormats,
  responsesOption as responses,
  secretOption as secret,
} from "./options.ts";
