/** Gemini's generateContent. */

import {
  type Api,
  eventText,
  piecesOf,
  type Said,
  type SaidStop,
  signatureOf,
  SSE,
  stopOf,
  usageOf,
} from "./said.ts";

const STOPS: Readonly<Record<SaidStop, string>> = {
  end: "STOP",
  length: "MAX_TOKENS",
  filter: "SAFETY",
  sequence: "STOP",
  calls: "STOP",
};

export const GEMINI: Api = {
  type: SSE,
  isStreamed: ({ url }) => url.includes(":streamGenerateContent"),
  whole: (said) =>
    replyOf(
      partsOf(said, (text) => [text]),
      said,
    ),
  events(said) {
    const parts = partsOf(said, (text) => piecesOf(text, said));
    return parts.map((part, index) => {
      const isLast = index === parts.length - 1;
      return eventText(replyOf([part], said, isLast)).replaceAll("\n", "\r\n");
    });
  },
};

function partsOf(said: Said, split: (text: string) => readonly string[]): readonly object[] {
  const { thought, text, calls = [], signature } = said;
  return [
    ...(thought === undefined ? [] : split(thought).map((each) => ({ text: each, thought: true }))),
    ...(text === undefined ? [] : split(text).map((each) => ({ text: each }))),
    ...calls.map(({ name, input }, index) => ({
      functionCall: { name, args: input },
      // The first of several calls has the signature.
      ...(signature === undefined || index > 0 ? {} : { thoughtSignature: signatureOf(said) }),
    })),
  ];
}

function replyOf(parts: readonly object[], said: Said, isLast = true): object {
  const { input, output, cached, reasoning } = usageOf(said);
  const content = { role: "model", parts };
  const finish = isLast ? { finishReason: STOPS[stopOf(said)] } : {};
  return {
    candidates: [{ index: 0, content, ...finish }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output - (reasoning ?? 0),
      totalTokenCount: input + output,
      ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
      ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
    },
    modelVersion: "scripted",
    responseId: "r1",
  };
}
