/** The members of a body that are texts, and their roles. */

import type { TextPart } from "@sluice/contract";
import { table } from "../../json/table.ts";

/** Parts by the role of a message. */
export const ROLE_PARTS = table<TextPart>({
  system: "system",
  developer: "developer",
  user: "user",
  assistant: "assistant",
  model: "assistant",
  tool: "tool",
  function: "tool",
});

/** Parts by the name of a member of the body. Other members are parameters. */
export const MEMBER_PARTS = table<TextPart>({
  system: "system",
  instructions: "system",
  systemInstruction: "system",
  system_instruction: "system",
  preamble: "system",
  messages: "user",
  message: "user",
  chat_history: "user",
  contents: "user",
  input: "user",
  prompt: "prompt",
  inputText: "prompt",
  documents: "documents",
  prediction: "assistant",
  tools: "tools",
  functions: "tools",
  toolConfig: "tools",
  choices: "content",
  candidates: "content",
  content: "content",
  output: "content",
  output_text: "content",
  data: "prompt",
  user: "names",
  metadata: "parameters",
});

/** Parts by the name of a nested member. They win over the part of the enclosing object. */
export const INNER_PARTS = table<TextPart>({
  arguments: "arguments",
  args: "arguments",
  partial_json: "arguments",
  functionResponse: "tool",
  function_response: "tool",
  toolResult: "tool",
  name: "names",
  refusal: "refusal",
  reasoning: "reasoning",
  reasoning_content: "reasoning",
  thinking: "reasoning",
  reasoning_details: "reasoning",
  revised_prompt: "prompt",
});

/** Formats of files with text bytes, by Bedrock's names. */
export const TEXT_FORMATS = new Set(["txt", "md", "csv", "html"]);

/** Formats of pictures, sounds and films. */
export const MEDIA_FORMATS = new Set(
  "png jpeg jpg gif webp mkv mov mp4 webm flv mpeg mpg wmv three_gp mp3 opus wav aac flac ogg m4a".split(
    " ",
  ),
);
