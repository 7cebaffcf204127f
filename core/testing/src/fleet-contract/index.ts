/** The contract of the fleet at rest. */

export { fleetStoreContract } from "./fleet-contract.ts";
