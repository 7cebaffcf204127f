/** Sizes of the reference dialect, and the shapes that Stability's services know instead. */

import { invalidField, type Refuse } from "@sluice/kit/dialect";
import type { JsonValue } from "@sluice/spec";

/** Width and height in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** `aspect_ratio` of the services (platform.stability.ai/docs/api-reference, Stable Image Core). */
const RATIOS = ["16:9", "1:1", "21:9", "2:3", "3:2", "4:5", "5:4", "9:16", "9:21"];
/** A shape that differs by more is another shape. 1792x1024 is 16:9 by 1.6 per cent. */
const MAX_DIFFERENCE = 0.05;

/** The size of a request; `undefined` for `auto` and for none. Throws `invalid_field`. */
export function readSize(value: JsonValue | undefined): Size | undefined {
  if (value === undefined || value === null || value === "auto") return undefined;
  const [, width, height] = typeof value === "string" ? (/^(\d{1,5})x(\d{1,5})$/.exec(value) ?? []) : [];
  if (width === undefined || height === undefined || Number(width) === 0 || Number(height) === 0) {
    throw invalidField("size", "`<width>x<height>` or `auto`");
  }
  return { width: Number(width), height: Number(height) };
}

/** The nearest shape. The service decides how many pixels it has. Refuses a size whose shape it does not know. */
export function aspectRatioOf({ width, height }: Size, refuse: Refuse): string {
  const wanted = width / height;
  const differences = RATIOS.map((name) => {
    const [across = 1, down = 1] = name.split(":").map(Number);
    return { name, difference: Math.abs(wanted / (across / down) - 1) };
  });
  const nearest = differences.reduce((best, each) => (each.difference < best.difference ? each : best));
  if (nearest.difference > MAX_DIFFERENCE)
    refuse("size", `a size of the shape ${width}:${height} (known are ${RATIOS.join(", ")})`);
  return nearest.name;
}
