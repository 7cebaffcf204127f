/** Names and ids in the charset of an upstream, and back. */

export { type ClientNames, clientName, mapBodyNames } from "../request/body-names.ts";
export { type NameMap, type NameRule, mapId, mapToolNames as map } from "../request/names.ts";
