/** @sluice/engine/doctor: whether an installation can start and serve, and why it does not. */

export { type Check, formatCheck, type Grade } from "../doctor/check.ts";
export { checkDataFolder, checkMasterKey } from "../doctor/installation.ts";
export { checkMachine } from "../doctor/machine.ts";
export { checkConnections, checkProviders, checkState, checkStore } from "../doctor/services.ts";
export { checkTls } from "../doctor/tls.ts";
