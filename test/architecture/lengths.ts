/** The functions and classes of a source file, with their lengths. */

import { parseAst } from "rolldown/parseAst";

/** A function or a class of a source file. */
export interface Unit {
  readonly kind: "function" | "class";
  /** As a reader finds it: `Exchange.receive`, `createStore`. Absent names are empty. */
  readonly name: string;
  /** From the first line to the last one, both counted, with the functions inside. */
  readonly lines: number;
}

type Node = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly start: number;
  readonly end: number;
};

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const CLASSES = new Set(["ClassDeclaration", "ClassExpression"]);

/** Every function and class of a text, the outer ones first. */
export function unitsOf(text: string, lang: "ts" | "tsx" = "ts"): readonly Unit[] {
  const units: Unit[] = [];
  const linesOf = ({ start, end }: Node): number => text.slice(start, end).split("\n").length;
  const visit = (node: Node, name: string, owner: string): void => {
    const isFunction = FUNCTIONS.has(node.type);
    const own = nameIn(node["id"]) || name;
    if (isFunction || CLASSES.has(node.type)) {
      const full = isFunction && owner !== "" ? `${owner}.${own}` : own;
      units.push({ kind: isFunction ? "function" : "class", name: full, lines: linesOf(node) });
    }
    const inside = CLASSES.has(node.type) || isDefinition(node) ? own : isFunction ? "" : owner;
    const childName =
      nameIn(node["key"]) ||
      nameIn(node["id"]) ||
      (CLASSES.has(node.type) || isFunction ? "" : name);
    for (const child of childrenOf(node)) visit(child, childName, inside);
  };
  visit(parseAst(text, { lang }) as unknown as Node, "", "");
  return units;
}

/**
 * A constant whose value holds functions by name, such as `export const retry = defineStep({
 * create() {} })`.
 */
function isDefinition({ type, init }: Node): boolean {
  return type === "VariableDeclarator" && isNode(init) && !FUNCTIONS.has(init.type);
}

function nameIn(value: unknown): string {
  return isNode(value) && typeof value["name"] === "string" ? value["name"] : "";
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flatMap((value) =>
    (Array.isArray(value) ? value : [value]).filter(isNode),
  );
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === "object" && value !== null && typeof (value as Partial<Node>).type === "string"
  );
}
