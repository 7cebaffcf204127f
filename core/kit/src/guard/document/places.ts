/**
 * The places of a body: the members that each JSON dialect names there, and their content. Data, in
 * one table for all dialects: the gateway does not know which dialect an upstream reads, so it
 * checks all of them. A member outside the table is checked as text, with its name. Sources:
 * platform.openai.com/docs/api-reference (chat, responses, embeddings, images),
 * docs.anthropic.com/en/api/messages, ai.google.dev/api/generate-content,
 * docs.cohere.com/v2/reference/chat, docs.mistral.ai/api, docs.aws.amazon.com/bedrock (Converse,
 * InvokeModel), docs.ollama.com/api.
 */

import { table } from "../../json/table.ts";

/**
 * The kind of a member without named members of its own. `text`: prose. `word`: a word of the
 * protocol. `id`: an identifier. `arguments`: a JSON text, or any value. `open`: any value, under
 * names that the client chooses. `url`: an address, or a data URL. `file`: a data URL or base64 of
 * a file. `base64`: a picture or sound, or another file beside its type. `sealed`: base64 that only
 * the provider can decrypt. `data` and `result`: one of these, by the type of their object.
 */
export type Leaf =
  | "text"
  | "word"
  | "id"
  | "arguments"
  | "open"
  | "url"
  | "file"
  | "base64"
  | "sealed"
  | "data"
  | "result";

/** A place with named members. */
export type PlaceName =
  | "body"
  | "message"
  | "block"
  | "prompt"
  | "image"
  | "sound"
  | "fileData"
  | "source"
  | "media"
  | "document"
  | "inline"
  | "reasoning"
  | "reasoningText"
  | "pictures"
  | "call"
  | "function"
  | "tool"
  | "choice"
  | "toolConfig"
  | "format"
  | "settings"
  | "datum";

/** The content of a member. */
export type Content = Leaf | PlaceName;

/** Members by their content: names, divided by blanks. */
type Rows = Partial<Record<Content, string>>;

const CALL_ROWS: Rows = {
  word: "type",
  id: "id call_id",
  function: "function custom functionCall function_call",
  text: "index",
  open: "extra_content",
};

const BLOCK_ROWS: Rows = {
  text: `text title context refusal index length summary_index uri url name queries is_error thought redacted phase language code transcript
    file_url detail_text cited_text encrypted_index prefix`,
  word: "type role format detail status outcome mime_type media_type mimeType",
  id: "id file_id call_id tool_use_id toolUseId item_id",
  open: `cache_control cachePoint citations annotations json videoMetadata video_metadata executableCode executable_code codeExecutionResult
    code_execution_result citationsContent searchResult action tool_result tool_references caller logprobs`,
  block:
    "content parts output summary thinking reasoning reasoning_content guardContent native_block",
  image: "image_url video_url audio_url document_url",
  sound: "input_audio",
  file: "file_data",
  fileData: "fileData file",
  source: "source",
  media: "image video audio",
  document: "document",
  inline: "inlineData inline_data",
  function: "functionCall function_call functionResponse function_response toolUse toolResult",
  arguments: "input arguments args",
  reasoning: "reasoningContent",
  sealed: "signature thoughtSignature thought_signature encrypted_content",
  data: "data",
};

const MESSAGE_ROWS: Rows = {
  ...BLOCK_ROWS,
  word: `${BLOCK_ROWS.word ?? ""} finish_reason stop_reason stopReason finishReason`,
  id: `${BLOCK_ROWS.id ?? ""} tool_call_id toolCallId`,
  text: `${BLOCK_ROWS.text ?? ""} tool_plan tool_name message_id end_turn weight server_label namespace error approve reason approval_request_id
    response_id stop_sequence`,
  call: "tool_calls",
  message: "message delta",
  block: `${BLOCK_ROWS.block ?? ""} reasoning_details content_blocks`,
  pictures: "images",
  result: "result",
};

/** The members of each place. */
export const MEMBERS: Readonly<Record<PlaceName, Readonly<Record<string, Content>>>> = {
  body: rows({
    word: `type object role reasoning_effort service_tier serviceTier encoding_format output_format truncation quality size background moderation
      finish_reason stop_reason stopReason finishReason status input_fidelity partial_images verbosity input_type safety_mode response_format_type`,
    id: "id model previous_response_id conversation response_id responseId modelVersion model_version cachedContent anthropic_version deployment",
    text: `instructions stream temperature top_p topP top_k topK max_tokens max_completion_tokens max_output_tokens maxTokens n stop stop_sequences
      seed random_seed presence_penalty frequency_penalty logprobs top_logprobs parallel_tool_calls disable_parallel_tool_use user store
      safety_identifier prompt_cache_key prompt_cache_retention inputText preamble suffix echo best_of dimensions output_dimension style
      output_compression safe_prompt max_tool_calls drop_params include keep_alive raw template think priority p k model_name
      negative_prompt search_queries_only force_single_step return_prompt embedding_types texts anthropic_beta output_text title taskType
      outputDimensionality mirostat repeat_penalty min_p typical_p num_ctx response created created_at done thinking_budget num_retries timeout context`,
    open: `metadata documents logit_bias labels options parameters additionalModelRequestFields additionalModelResponseFieldPaths
      requestMetadata promptVariables safetySettings safety_settings guardrailConfig performanceConfig citation_options connectors context_management
      mcp_servers container betas web_search_options stream_options streamOptions modalities thinking reasoning citations annotations extra_body
      user_location provider plugins models route transforms tags guardrails caching cache fallbacks context_window_fallback_dict`,
    message:
      "messages contents input chat_history message output systemInstruction system_instruction inputs choices candidates",
    block: "system content prediction",
    prompt: "prompt",
    tool: "tools functions",
    choice: "tool_choice toolChoice function_call",
    toolConfig: "toolConfig tool_config",
    format: "response_format text format output_config",
    settings: "generationConfig generation_config inferenceConfig textGenerationConfig audio",
    pictures: "images image",
    document: "document",
    datum: "data instances predictions",
    body: "requests params body request generateContentRequest",
  }),
  message: rows(MESSAGE_ROWS),
  block: rows(BLOCK_ROWS),
  prompt: rows({ text: "version", id: "id", open: "variables" }),
  image: rows({ url: "url", word: "detail format", text: "id name" }),
  sound: rows({
    base64: "data",
    word: "format mediaType media_type",
    url: "url",
    text: "transcript",
    id: "id",
  }),
  fileData: rows({
    file: "file_data fileData",
    id: "file_id fileId",
    text: "filename fileUri file_uri name url",
    word: "format mimeType mime_type",
  }),
  source: rows({
    base64: "data bytes",
    word: "type media_type mediaType",
    url: "url",
    id: "file_id",
    text: "text uri",
    block: "content",
    open: "s3Location",
  }),
  media: rows({
    word: "format detail mimeType mime_type voice",
    text: "name transcript expires_at gcsUri",
    id: "id",
    source: "source",
    base64: "data bytesBase64Encoded",
    url: "url",
  }),
  document: rows({
    word: "format type",
    text: "name context title text document_name",
    id: "id",
    source: "source",
    open: "data citations",
    url: "url document_url image_url",
  }),
  inline: rows({ base64: "data", word: "mimeType mime_type", text: "displayName display_name" }),
  reasoning: rows({ reasoningText: "reasoningText", sealed: "redactedContent" }),
  reasoningText: rows({ text: "text", sealed: "signature" }),
  pictures: rows({
    ...BLOCK_ROWS,
    base64: "bytesBase64Encoded",
    word: `${BLOCK_ROWS.word ?? ""}`,
    text: `${BLOCK_ROWS.text ?? ""} gcsUri`,
  }),
  call: rows(CALL_ROWS),
  function: rows({
    arguments: "input arguments args",
    text: "name description strict index willContinue scheduling is_error",
    id: "id call_id toolUseId",
    word: "type status behavior",
    open: "parameters parametersJsonSchema parameters_json_schema response inputSchema input_schema json_schema responseJsonSchema format",
    block: "content parts",
  }),
  tool: rows({
    word: "type search_context_size",
    id: "id",
    text: "name description strict server_label server_url max_uses display_width_px display_height_px",
    function: "function custom functionDeclarations function_declarations toolSpec",
    tool: "tools",
    open: `parameters input_schema inputSchema format schema cache_control cachePoint googleSearch google_search googleSearchRetrieval
      codeExecution code_execution urlContext url_context retrieval filters user_location allowed_tools headers container ranking_options
      parameter_definitions vector_store_ids allowed_domains blocked_domains systemTool`,
  }),
  choice: rows({
    word: "type mode",
    text: "name disable_parallel_tool_use auto any",
    function: "function custom",
    tool: "tools tool",
    open: "allowed_tools",
  }),
  toolConfig: rows({
    tool: "tools",
    choice: "toolChoice",
    open: "functionCallingConfig function_calling_config retrievalConfig retrieval_config",
  }),
  format: rows({
    word: "type verbosity effort",
    text: "name description strict",
    open: "schema",
    format: "format",
    function: "json_schema",
  }),
  settings: rows({
    word: "format responseMimeType response_mime_type mediaResolution media_resolution",
    text: `temperature topP top_p topK top_k maxOutputTokens max_output_tokens maxTokens maxTokenCount candidateCount candidate_count
      stopSequences stop_sequences seed presencePenalty presence_penalty frequencyPenalty frequency_penalty responseLogprobs response_logprobs
      logprobs responseModalities response_modalities enableEnhancedCivicAnswers`,
    open: `responseSchema response_schema responseJsonSchema response_json_schema speechConfig speech_config thinkingConfig thinking_config
      imageConfig image_config voice routingConfig`,
  }),
  datum: rows({
    base64: "b64_json bytesBase64Encoded",
    url: "url",
    text: "revised_prompt index prompt embedding",
    word: "object mimeType mime_type",
    pictures: "image",
  }),
};

/** The kind of a string, or of each string of a list, in a place with named members. */
export const STRING_AT: Readonly<Partial<Record<PlaceName, Leaf>>> = {
  image: "url",
  sound: "base64",
  fileData: "file",
  pictures: "base64",
  choice: "word",
  format: "word",
};

function rows(names: Rows): Readonly<Record<string, Content>> {
  const members: Record<string, Content> = {};
  for (const [content, line] of Object.entries(names)) {
    for (const name of line.split(/\s+/)) if (name !== "") members[name] = content as Content;
  }
  return table(members);
}
