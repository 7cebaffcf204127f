/**
 * The stream of the benchmark's upstream in the dialect of Gemini's streamGenerateContent: the same
 * words as in the reference dialect.
 */

import { GEMINI_MODEL, STREAM_EVENTS } from "../scenarios.ts";

/** The events of the stream, one text each. */
export function geminiStream(): string[] {
  const event = (text: string, output: number, finishReason?: string): string => {
    const content = { parts: [{ text }], role: "model" };
    const data = {
      candidates: [{ content, ...(finishReason === undefined ? {} : { finishReason }), index: 0 }],
      usageMetadata: {
        promptTokenCount: 33,
        candidatesTokenCount: output,
        totalTokenCount: 33 + output,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 33 }],
      },
      modelVersion: GEMINI_MODEL,
      responseId: "Bench00000000000000001",
    };
    return `data: ${JSON.stringify(data)}\r\n\r\n`;
  };
  return Array.from({ length: STREAM_EVENTS }, (_, index) =>
    event(` word${index}`, index + 1, index === STREAM_EVENTS - 1 ? "STOP" : undefined),
  );
}
