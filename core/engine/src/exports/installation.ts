/**
 * @sluice/engine/installation: what a gateway keeps in its data folder: the running file, the mark
 * of the store, the last good files.
 */

export { recoverFolder, type RecoveredOutbox } from "../accounting/outbox/recover-folder.ts";
export { outboxFault, outboxFiles } from "../accounting/outbox/outbox-files.ts";
export { foreignPepper, pepperPrint, readStoreMark } from "../accounting/ledger/store-mark.ts";
export { dataDirectoryOf } from "../generation/history/last-good.ts";
export { givenMasterKey } from "../resources/given-master-key.ts";
export { lockDataFolder } from "../resources/data-lock.ts";
export { StartError } from "../resources/installation.ts";
export { certificateOf, readRunning, writeRunning } from "../resources/running-file.ts";
export { nearestFolder, unwritable } from "../resources/writable-folder.ts";
