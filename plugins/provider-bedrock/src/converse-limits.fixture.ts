/**
 * The documented limits of Converse, with its service model: throws for a body that it would
 * refuse.
 */

import assert from "node:assert/strict";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";

const MEMBERS = new Set([
  "messages",
  "system",
  "inferenceConfig",
  "toolConfig",
  "guardrailConfig",
  "additionalModelRequestFields",
  "additionalModelResponseFieldPaths",
  "requestMetadata",
  "performanceConfig",
  "serviceTier",
  "outputConfig",
]);
const BLOCKS = new Set([
  "text",
  "image",
  "document",
  "video",
  "audio",
  "toolUse",
  "toolResult",
  "reasoningContent",
  "cachePoint",
]);

export function checkConverse(body: JsonObject): void {
  for (const name of Object.keys(body))
    assert.ok(MEMBERS.has(name), `${name} is no member of a Converse request`);
  const messages = Members.objectsOf(body.messages);
  assert.ok(messages.length > 0, "a conversation has a message");
  messages.forEach(({ role, content }, index) => {
    assert.equal(
      role,
      index % 2 === 0 ? "user" : "assistant",
      "the sides take turns, the user first",
    );
    checkContent(content);
  });
  if (isObject(body.toolConfig)) checkTools(body.toolConfig);
  const hasCalls = messages.some(({ content }) =>
    Members.objectsOf(content).some(
      ({ toolUse, toolResult }) => (toolUse ?? toolResult) !== undefined,
    ),
  );
  assert.ok(!hasCalls || isObject(body.toolConfig), "calls in the history need a toolConfig");
  if (isObject(body.outputConfig) && isObject(body.outputConfig.textFormat)) {
    const { structure } = body.outputConfig.textFormat;
    assert.ok(
      isObject(structure) &&
        isObject(structure.jsonSchema) &&
        typeof structure.jsonSchema.schema === "string",
    );
    checkStrict(JSON.parse(structure.jsonSchema.schema) as JsonValue);
  }
}

function checkContent(content: JsonValue | undefined): void {
  const blocks = Members.objectsOf(content);
  assert.ok(blocks.length > 0, "a message has content");
  const names = new Set<unknown>();
  for (const block of blocks) {
    const kinds = Object.keys(block);
    assert.ok(kinds.length === 1 && BLOCKS.has(kinds[0] ?? ""), `${kinds.join()} is no block`);
    if (block.text !== undefined)
      assert.ok(typeof block.text === "string" && block.text.trim() !== "", "a text is not blank");
    const use = block.toolUse ?? block.toolResult;
    if (isObject(use)) assert.match(String(use.toolUseId), /^[a-zA-Z0-9_.:-]{1,64}$/);
    if (isObject(block.toolUse))
      assert.ok(isObject(block.toolUse.input), "the input of a call is an object");
    if (isObject(block.document)) {
      assert.match(String(block.document.name), /^(?!.*\s\s)[A-Za-z0-9\s()[\]-]{1,200}$/);
      assert.ok(!names.has(block.document.name), "documents have names of their own");
      names.add(block.document.name);
    }
  }
  if (names.size > 0)
    assert.ok(
      blocks.some(({ text }) => text !== undefined),
      "a text stands beside a document",
    );
}

function checkTools({ tools, toolChoice }: JsonObject): void {
  const specs = Members.objectsOf(tools).flatMap(({ toolSpec }) =>
    isObject(toolSpec) ? [toolSpec] : [],
  );
  assert.ok(specs.length > 0, "a toolConfig has a tool");
  for (const { name, description, inputSchema, strict } of specs) {
    assert.match(String(name), /^[a-zA-Z0-9_-]{1,64}$/);
    assert.notEqual(description, "");
    assert.ok(
      isObject(inputSchema) && isObject(inputSchema.json) && inputSchema.json.type === "object",
    );
    if (strict === true) checkStrict(inputSchema.json);
  }
  const [mode] = isObject(toolChoice) ? Object.keys(toolChoice) : [];
  assert.ok(mode === undefined || ["auto", "any", "tool"].includes(mode), `${mode} is no choice`);
}

const UNSAID = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "$ref",
  "oneOf",
  "maxItems",
];

/** No bounds, no references, closed objects, wherever a schema may stand. */
function checkStrict(schema: JsonValue | undefined): void {
  if (!isObject(schema)) return;
  for (const keyword of UNSAID) assert.equal(schema[keyword], undefined, `${keyword} is not taken`);
  if (schema.type === "object")
    assert.equal(schema.additionalProperties, false, "objects are closed");
  for (const each of Object.values(isObject(schema.properties) ? schema.properties : {}))
    checkStrict(each);
  for (const each of [...Members.objectsOf(schema.anyOf), ...Members.objectsOf(schema.allOf)])
    checkStrict(each);
  checkStrict(schema.items);
}
