/**
 * Tools of a request as functions of the reference dialect. A namespace is flattened; a custom tool
 * becomes a function with one text, because most upstreams know functions alone.
 */

import { createHash } from "node:crypto";
import { isObject } from "@sluice/kit";
import { invalidField, Members } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";
import type { ToolKind, ToolName } from "../state.ts";
import { isTyped, TYPED_TOOLS } from "../typed-tools.ts";
import type { Notes } from "./notes.ts";
import { shown } from "./refusals.ts";
import { isStrictSchema } from "./strict.ts";

interface Declared {
  readonly key: string;
  readonly kind: ToolKind;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The function without its name. */
  readonly definition: JsonObject;
}

/** Hosted tools that read what belongs to the client: without them an answer would be another. */
const NEEDED = new Set(["file_search", "code_interpreter", "mcp", "computer"]);
const NEEDED_PREFIX = "computer";
const FLAT = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_NAME = 64;
const HASH_CHARACTERS = 8;

/** The tools of one request, and the names of those that only its history calls. */
export class ToolTable {
  /** Tools that only an upstream of this API can run, as the client sent them. */
  readonly native: JsonObject[] = [];
  readonly #notes: Notes;
  readonly #declared: Declared[] = [];
  readonly #keys = new Set<string>();
  readonly #flat = new Map<string, ToolName>();
  readonly #taken = new Set<string>();
  #isSettled = false;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** Reads a list of tools. A tool that is declared twice counts once. */
  declareAll(tools: JsonValue | undefined, path: string): void {
    if (tools === undefined || tools === null) return;
    if (!Array.isArray(tools)) throw invalidField(path, "an array");
    for (const [index, tool] of (tools as readonly JsonValue[]).entries())
      this.#declare(tool, `${path}[${index}]`);
  }

  /** The functions of the reference dialect. */
  functions(): readonly JsonObject[] {
    this.#settle();
    return this.#declared.map(({ key, definition }) => ({
      type: "function",
      function: { name: this.#flat.get(key)?.flat ?? "", ...definition },
    }));
  }

  /** Every name of this request. */
  names(): readonly ToolName[] {
    this.#settle();
    return [...this.#flat.values()];
  }

  /** Whether the request offers a tool. */
  has(kind: ToolKind, name: string, namespace?: string): boolean {
    return this.#keys.has(keyOf(kind, name, namespace));
  }

  /** The name of a tool in the reference dialect. */
  flat(kind: ToolKind, name: string, namespace?: string): string {
    this.#settle();
    return this.#name(kind, name, namespace);
  }

  /** The names of a namespace's tools in the reference dialect. */
  flatsOf(namespace: string): readonly string[] {
    return this.#declared
      .filter((each) => each.namespace === namespace)
      .map((each) => this.flat(each.kind, each.name, each.namespace));
  }

  /** Plain names stay, so they are settled before names that have to be made. */
  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const isPlain = ({ name, namespace }: Declared): boolean =>
      namespace === undefined && FLAT.test(name);
    for (const one of this.#declared.toSorted((a, b) => Number(isPlain(b)) - Number(isPlain(a))))
      this.#name(one.kind, one.name, one.namespace);
  }

  #name(kind: ToolKind, name: string, namespace: string | undefined): string {
    const key = keyOf(kind, name, namespace);
    const known = this.#flat.get(key);
    if (known !== undefined) return known.flat;
    const joined = namespace === undefined ? name : joinedName(namespace, name);
    let flat = FLAT.test(joined) ? joined : mangled(joined, key);
    for (let salt = 0; this.#taken.has(flat); salt++) flat = mangled(joined, `${salt}:${key}`);
    this.#taken.add(flat);
    this.#flat.set(key, { flat, kind, name, ...(namespace === undefined ? {} : { namespace }) });
    return flat;
  }

  #declare(tool: JsonValue, path: string): void {
    if (!isObject(tool)) throw invalidField(path, "an object");
    const { type } = tool;
    if (typeof type !== "string") throw invalidField(`${path}.type`, "the type of the tool");
    if (type === "function" || type === "custom") this.#declareOne(type, tool, path);
    else if (type === "namespace") this.#declareNamespace(tool, path);
    else if (isTyped(type)) this.#declareTyped(type, tool, path);
    else if (NEEDED.has(type) || type.startsWith(NEEDED_PREFIX)) this.#keep(tool, path, type);
    else this.#notes.drop(path);
  }

  #declareOne(type: "function" | "custom", tool: JsonObject, path: string, space?: Space): void {
    const name = nameOf(tool, path);
    const made = type === "custom" ? customFunction(tool) : plainFunction(tool, path);
    const introduced = space === undefined ? made : introduce(made, space);
    this.#add(type, name, space?.name, introduced);
  }

  #declareNamespace(tool: JsonObject, path: string): void {
    const name = nameOf(tool, path);
    if (!Array.isArray(tool.tools)) throw invalidField(`${path}.tools`, "an array");
    const introduction = typeof tool.description === "string" ? tool.description.trim() : "";
    for (const [index, each] of (tool.tools as readonly JsonValue[]).entries()) {
      const at = `${path}.tools[${index}]`;
      if (!isObject(each)) throw invalidField(at, "an object");
      const { type = "function" } = each;
      if (type !== "function" && type !== "custom")
        throw invalidField(`${at}.type`, "function or custom");
      // The namespace's description stands once, with its first tool.
      this.#declareOne(type, each, at, { name, introduction: index === 0 ? introduction : "" });
    }
  }

  #declareTyped(kind: keyof typeof TYPED_TOOLS, tool: JsonObject, path: string): void {
    const { environment } = tool;
    if (isObject(environment) && environment.type !== "local") {
      this.#keep(tool, path, `${kind} in a container`);
      return;
    }
    // A search that the server runs finds deferred tools: they are all offered at once here.
    if (kind === "tool_search" && tool.execution !== "client") {
      this.#notes.drop(path);
      return;
    }
    const { description, parameters } = TYPED_TOOLS[kind];
    this.#add(kind, kind, undefined, {
      description: Members.textIn(tool.description) ?? description,
      parameters: isObject(tool.parameters) ? tool.parameters : parameters,
    });
  }

  #keep(tool: JsonObject, path: string, type: string): void {
    this.native.push(tool);
    this.#notes.native(path, `a tool of type ${shown(type)}`);
  }

  #add(kind: ToolKind, name: string, namespace: string | undefined, definition: JsonObject): void {
    const key = keyOf(kind, name, namespace);
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#declared.push({ key, kind, name, namespace, definition });
  }
}

interface Space {
  readonly name: string;
  readonly introduction: string;
}

function introduce(definition: JsonObject, { name, introduction }: Space): JsonObject {
  if (introduction === "") return definition;
  const own = typeof definition.description === "string" ? `${definition.description}\n\n` : "";
  return { ...definition, description: `${own}Namespace ${name}: ${introduction}` };
}

function nameOf({ name }: JsonObject, path: string): string {
  if (typeof name !== "string" || name === "")
    throw invalidField(`${path}.name`, "the name of the tool");
  return name;
}

function plainFunction(tool: JsonObject, path: string): JsonObject {
  const { description, parameters } = tool;
  if (parameters !== undefined && parameters !== null && !isObject(parameters))
    throw invalidField(`${path}.parameters`, "a JSON schema");
  return Members.present({
    description: typeof description === "string" ? description : undefined,
    parameters: isObject(parameters) ? parameters : undefined,
    strict: strictOf(tool),
  });
}

/** The effective `strict` of a function: its own, else true for a schema that allows it. */
export function strictOf({ strict, parameters }: JsonObject): boolean | undefined {
  if (typeof strict === "boolean") return strict;
  return isStrictSchema(parameters) ? true : undefined;
}

/** A custom tool as a function: its input is one text, its grammar stands in the description. */
function customFunction({ description, format }: JsonObject): JsonObject {
  const grammar =
    isObject(format) && format.type === "grammar" && typeof format.definition === "string"
      ? `The input must match this ${String(format.syntax)} grammar:\n${format.definition}`
      : undefined;
  const words = [description, grammar].filter((each) => typeof each === "string" && each !== "");
  return {
    ...(words.length === 0 ? {} : { description: words.join("\n\n") }),
    parameters: {
      type: "object",
      properties: { input: { type: "string", description: "The whole input as plain text." } },
      required: ["input"],
      additionalProperties: false,
    },
  };
}

function keyOf(kind: ToolKind, name: string, namespace: string | undefined): string {
  return JSON.stringify([kind, namespace ?? null, name]);
}

function joinedName(namespace: string, name: string): string {
  const isDivided = namespace.endsWith("__") || name.startsWith("__");
  return isDivided ? namespace + name : `${namespace}__${name}`;
}

function mangled(name: string, key: string): string {
  const hash = createHash("sha256").update(key).digest("hex").slice(0, HASH_CHARACTERS);
  const kept = name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  return `${kept.slice(0, MAX_NAME - HASH_CHARACTERS - 1)}_${hash}`;
}
