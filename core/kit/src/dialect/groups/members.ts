/** Members of JSON objects, each checked for its type. */

export { table } from "../../json/table.ts";
export { parseObject as parse, present, textIn } from "../members.ts";
export { objectsOf } from "../reply.ts";
