/** The vocabulary of protocols: values and names without a client's own text. */

import { MEMBERS } from "./document/places.ts";

/** Values of members for protocol words. Another value in such a place is a text. */
export const PROTOCOL_WORDS: ReadonlySet<string> = new Set(
  `user assistant system developer tool function model text input_text output_text image image_url input_image input_audio audio_url audio
  video_url video file input_file document refusal custom message reasoning summary_text reasoning_text function_call function_call_output
  custom_tool_call custom_tool_call_output image_generation_call web_search_call file_search_call computer_call computer_call_output
  code_interpreter_call mcp_call mcp_list_tools item_reference local_shell_call tool_use tool_result thinking redacted_thinking search_result
  server_tool_use web_search_tool_result base64 url content document_url file_url image_b64 ephemeral auto none any required allowed_tools
  validated AUTO ANY NONE VALIDATED json_schema json_object json enabled disabled adaptive high medium low minimal xhigh max default flex priority
  scale standard on_demand fast concise detailed in_progress completed incomplete failed searching success error cancelled queued list
  chat.completion chat.completion.chunk response embedding embeddings float int8 uint8 binary ubinary search_document search_query
  classification clustering stop length tool_calls content_filter end_turn max_tokens stop_sequence pause_turn compaction STOP MAX_TOKENS SAFETY
  RECITATION OTHER COMPLETE TOOL_CALL USER_CANCEL TOOL_USE object string number integer boolean array null hd original transparent opaque png
  jpeg jpg gif webp heic heif bmp tiff avif mkv mov mp4 webm flv mpeg mpg wmv three_gp mp3 opus wav aac flac ogg m4a pcm pcm16 pdf csv doc docx
  xls xlsx html txt md vivid natural application/json text/plain text/html text/csv text/markdown text/x.enum application/pdf OUTCOME_OK
  OUTCOME_FAILED PYTHON START END server_vad cloze web_search web_search_preview file_search code_interpreter image_generation mcp computer bash
  text_editor web_fetch citation tool_calls_delta text_delta input_json_delta thinking_delta signature_delta citations_delta content_delta
  media_resolution_high media_resolution_medium media_resolution_low CONTEXTUAL STRICT OFF FAST ACCURATE guard_content`.split(
    /\s+/,
  ),
);

/** Keywords of JSON Schema (json-schema.org, 2020-12, and draft 7). */
const SCHEMA_KEYWORDS = `$schema $id $ref $defs $anchor $comment definitions type properties required items prefixItems additionalProperties
  patternProperties propertyNames unevaluatedProperties enum const anyOf oneOf allOf not if then else title description default examples format
  pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties
  maxProperties nullable dependentRequired dependentSchemas contains deprecated readOnly writeOnly propertyOrdering`;

/** Members of replies that hold numbers, or the provider's own words. */
const REPLY_NAMES = `usage prompt_tokens completion_tokens total_tokens input_tokens output_tokens prompt_tokens_details completion_tokens_details
  input_tokens_details output_tokens_details cached_tokens audio_tokens reasoning_tokens accepted_prediction_tokens rejected_prediction_tokens
  cache_creation_input_tokens cache_read_input_tokens cache_creation cost is_byok provider_specific_fields system_fingerprint obfuscation
  usageMetadata promptTokenCount candidatesTokenCount totalTokenCount thoughtsTokenCount promptTokensDetails tokenCount modality promptFeedback
  safetyRatings category probability metrics latencyMs inputTokens outputTokens totalTokens billed_units tokens meta top_logprobs bytes token
  logprob`;

/** Names of members in a dialect or JSON Schema, at any place. */
export const PROTOCOL_NAMES: ReadonlySet<string> = new Set([
  ...Object.values(MEMBERS).flatMap((members) => Object.keys(members)),
  ...`${SCHEMA_KEYWORDS} ${REPLY_NAMES}`.split(/\s+/),
]);

/** Names of members for protocol words, in a place that no dialect names. */
export const WORD_NAMES: ReadonlySet<string> = new Set(
  Object.values(MEMBERS).flatMap((members) =>
    Object.keys(members).filter((name) => members[name] === "word"),
  ),
);

/**
 * Identifiers of upstreams and gateways: a known prefix and a long random number, or a UUID. Others
 * are checked as texts.
 */
const MACHINE_ID =
  /^(?:(?:call|fc|fco|msg|rs|resp|toolu|srvtoolu|tooluse|chatcmpl|cmpl|file|item|ctc|ws|mcp|ig|ci|req|run|thread|asst|batch|gen)[_-])?(?:[0-9a-f]{32,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Whether a text can only be an identifier. */
export function isMachineId(id: string): boolean {
  return MACHINE_ID.test(id);
}
