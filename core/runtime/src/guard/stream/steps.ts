/** The order in which the texts of one frame are taken, and other texts end. */

import type { Frame } from "@sluice/contract";
import { exactChunk } from "@sluice/kit/internals";
import { isText, type StreamPiece, type StreamTexts } from "./dialect.ts";
import type { GuardedStreamOptions } from "./options.ts";

/** A frame with one text. */
export interface TakenFrame {
  readonly frame: Frame;
  readonly piece: StreamPiece;
}

/** Takes a text, ends the channels with a prefix except one, or passes a frame without a text. */
export type Step =
  | { readonly take: TakenFrame }
  | { readonly end: string; readonly except?: string | undefined }
  | { readonly pass: Frame };

/**
 * The steps of a frame with names that are checked. Texts that end with the frame precede it, and
 * its own is the last of them. Texts that it follows end before each of its other texts.
 */
export function stepsOf(
  frame: Frame,
  { pieces, ends, follows = [] }: StreamTexts,
  options: GuardedStreamOptions,
): readonly Step[] {
  const parts = partsOf(frame, pieces.filter(isText), options);
  const before = options.mode === "window" ? follows : [];
  const endAll = before.map((prefix): Step => ({ end: prefix }));
  const steps: Step[] = [...endAll];
  for (const [at, part] of parts.entries()) {
    const { channel } = part.piece;
    if (ends !== undefined && at === parts.length - 1) steps.push({ end: ends, except: channel });
    steps.push({ take: part });
    if (before.some((prefix) => channel.startsWith(prefix))) steps.push(...endAll);
  }
  if (ends !== undefined) steps.push({ end: ends });
  return parts.length === 0 ? [...steps, { pass: frame }] : steps;
}

/** A frame as one for each of its texts. */
function partsOf(
  frame: Frame,
  texts: readonly StreamPiece[],
  { dialect, frameOf }: GuardedStreamOptions,
): readonly TakenFrame[] {
  if (texts.length < 2) return texts.map((piece) => ({ frame, piece }));
  const parts = dialect.split(exactChunk(frame), texts);
  return parts.map(({ event, piece }) => ({ frame: frameOf(event, frame), piece }));
}
