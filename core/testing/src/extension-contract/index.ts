/** The contract of extensions. */

export {
  extensionContract,
  type ExtensionContractOptions,
  type ExtensionRunner,
} from "./extension-contract.ts";
