/** Members of JSON objects, each checked for its type. */

export { ExactValues } from "../../json/numbers/exact.ts";
export { table } from "../../json/table.ts";
export { ObjectText } from "../object-text.ts";
export {
  parseExactObject as parseExact,
  parseObject as parse,
  present,
  textIn,
} from "../members.ts";
export { objectsOf, readObjects } from "../reply.ts";
