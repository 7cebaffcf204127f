/** `tools` and `toolConfig` as members of a chat request. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { invalidField, Members } from "@sluice/kit/dialect";
import type { Fields, Placed } from "./fields.ts";
import { jsonSchemaOf } from "./schema.ts";

/** Google's own tools, which its provider reads under these types. */
const OWN_TOOLS = {
  urlContext: "url_context",
  codeExecution: "code_execution",
  googleMaps: "google_maps",
} as const;

/** The members about tools. Throws `invalid_field` for a tool that has no translation. */
export function toolMembers(body: Fields): JsonObject {
  const tools: JsonObject[] = [];
  let search: JsonObject | undefined;
  for (const tool of body.objects("tools")) {
    for (const each of tool.objects("functionDeclarations"))
      tools.push({ type: "function", function: functionOf(each) });
    for (const [name, type] of Object.entries(OWN_TOOLS)) {
      const own = tool.get(name);
      if (own === undefined) continue;
      body.notes.keepNative(own);
      tools.push({ type, ...optionsOf(own) });
    }
    const own = tool.get("googleSearch");
    if (own !== undefined) {
      const options = optionsOf(own);
      // Without options it is the search that several providers have.
      if (Object.keys(options).length === 0) search = {};
      else {
        body.notes.keepNative(own, "options of this search");
        tools.push({ type: "google_search", ...options });
      }
    }
    tool.end();
  }
  const config = body.object("toolConfig");
  const choice = choiceOf(config);
  if (tools.length === 0 && choice !== undefined && choice !== "none" && choice !== "auto")
    throw invalidField(config?.path ?? "", "absent or of mode AUTO or NONE without functions");
  return Members.present({
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: tools.length === 0 ? undefined : choice,
    web_search_options: search,
  });
}

function optionsOf({ value, path }: Placed): JsonObject {
  if (!isObject(value) || value.type !== undefined)
    throw invalidField(path, "an object of options");
  return value;
}

function functionOf(declaration: Fields): JsonObject {
  const { path, notes } = declaration;
  const name = declaration.text("name");
  const description = declaration.text("description");
  const own = declaration.get("parameters");
  const json = declaration.get("parametersJsonSchema");
  // They describe results to the model; no other dialect has a place for them.
  for (const result of ["response", "responseJsonSchema"]) notes.drop(declaration.get(result));
  const behavior = declaration.get("behavior");
  if (behavior !== undefined && !["BLOCKING", "UNSPECIFIED"].includes(String(behavior.value)))
    notes.leaveNative(behavior, "a function that does not block");
  declaration.end();
  if (name === undefined || name === "")
    throw invalidField(`${path}.name`, "the name of the function");
  if (json !== undefined && !isObject(json.value)) throw invalidField(json.path, "a JSON schema");
  if (json !== undefined && own !== undefined)
    throw invalidField(json.path, "absent beside parameters: a function has one of them");
  const parameters =
    json?.value ?? (own === undefined ? undefined : jsonSchemaOf(own.value, own.path));
  return Members.present({ name, description, parameters });
}

function choiceOf(config: Fields | undefined): JsonValue | undefined {
  const calling = config?.object("functionCallingConfig");
  const server = config?.get("includeServerSideToolInvocations");
  if (server?.value !== false) config?.notes.leaveNative(server);
  config?.end();
  if (calling === undefined) return undefined;
  const mode = calling.text("mode")?.toUpperCase() ?? "AUTO";
  const given = calling.get("mode");
  const names = calling.texts("allowedFunctionNames") ?? [];
  // A face sends every call whole.
  calling.notes.drop(calling.get("streamFunctionCallArguments"));
  calling.end();
  switch (mode) {
    case "AUTO":
    case "MODE_UNSPECIFIED":
      if (names.length > 0)
        throw invalidField(
          calling.get("allowedFunctionNames")?.path ?? "",
          "absent with this mode: ANY and VALIDATED take names",
        );
      return undefined;
    case "NONE":
      return "none";
    case "ANY":
      return allowed(names, "required");
    case "VALIDATED":
      calling.notes.drop(given);
      return allowed(names, "auto");
    default:
      throw invalidField(given?.path ?? calling.path, "AUTO, ANY, NONE or VALIDATED");
  }
}

function allowed(names: readonly string[], mode: "required" | "auto"): JsonValue {
  const [name] = names;
  if (name === undefined) return mode;
  const named = names.map((each) => ({ type: "function", function: { name: each } }));
  if (names.length === 1 && mode === "required") return { type: "function", function: { name } };
  return { type: "allowed_tools", allowed_tools: { mode, tools: named } };
}
