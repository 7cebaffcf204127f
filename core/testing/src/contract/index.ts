/** The contract suite of providers. */

export { abilityTable, checkReadme } from "./abilities.ts";
export { fixtureInput } from "./case-table.ts";
export { providerContract } from "./contract.ts";
export type { ContractOptions, ContractRunner } from "./options.ts";
export { ContractFault } from "./fault.ts";
export { bodyText } from "./outcome.ts";
export {
  BLOCKS,
  ODD_MESSAGES,
  PARAMETER_VALUES,
  PIXEL_URL,
  TOOL_CHOICES,
  WEATHER_TOOL,
} from "./odd-requests.ts";
export { recordCase, type Recorded, type RecordOptions } from "./record.ts";
export { HARD_SCHEMAS, SCHEMAS } from "./schemas.ts";
export {
  CONTRACT_KEY,
  makeProvider,
  REPLY_MODEL,
  requestOf,
  type RequestTerms,
} from "./subject.ts";
