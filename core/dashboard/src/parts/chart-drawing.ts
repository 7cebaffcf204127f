/** Draws a chart with uPlot, in the colours of the present theme. */

import uPlot, { type AlignedData, type Options } from "uplot";
import { times } from "./times.ts";

/** One line, area or row of bars. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** One of the colours of tokens.css. */
  readonly colour: 1 | 2 | 3 | 4 | 5;
  readonly kind?: "line" | "area" | "bars";
}

/** A vertical line at a time. */
export interface ChartMark {
  /** Seconds since 1970. */
  readonly at: number;
  readonly text: string;
}

/** A chart on the page. */
export interface Drawing {
  show(data: readonly (readonly (number | null)[])[], marks: readonly ChartMark[]): void;
  end(): void;
}

interface DrawOptions {
  readonly series: readonly Series[];
  readonly format: (value: number | null | undefined) => string;
  readonly height: number;
  readonly onPoint: (index: number | null) => void;
  /** Whether values are counts: the axis has whole numbers. */
  readonly isWhole?: boolean;
  /** Whether points are days of UTC. */
  readonly isDaily?: boolean;
}

/** From 1e-9 to 5e9. Steps of 2.5 would need more digits than their texts have. */
const STEPS = Array.from({ length: 19 }, (_, power) =>
  [1, 2, 5].map((digit) => Number(`${digit}e${power - 9}`)),
).flat();
const WHOLE_STEPS = STEPS.filter((step) => step >= 1);
const DAY_S = 86_400;
const DAILY_STEPS = [1, 2, 7, 14, 30].map((days) => days * DAY_S);

/** Dashes by the number of the colour, so that lines differ without it. */
const DASHES: readonly number[][] = [[], [6, 4], [2, 3], [10, 4, 2, 4], [1, 4]];
const AXIS_SPACE = 64;
const TIME_AXIS_SIZE = 28;
const FONT_SIZE = 11;

/** Draws into an element, as wide as that is. */
export function draw(place: HTMLElement, options: DrawOptions): Drawing {
  const { series, height, onPoint } = options;
  const colourOf = colours(place);
  let marks: readonly ChartMark[] = [];
  const chart = new uPlot(
    {
      width: place.clientWidth || 300,
      height,
      legend: { show: false },
      ...(options.isDaily === true && {
        tzDate: (at: number) => uPlot.tzDate(new Date(at * 1_000), "Etc/UTC"),
      }),
      cursor: { y: false, points: { size: 7 } },
      scales: {
        ...(series.some(({ kind }) => kind === "bars") && { x: { range: barRange } }),
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
      },
      axes: axesOf(place, options, colourOf),
      series: [{}, ...series.map((one) => seriesOf(one, colourOf))],
      hooks: {
        setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
        draw: [(drawn) => drawMarks(drawn, marks, colourOf("--muted"))],
      },
    },
    [[], ...series.map(() => [])] as unknown as AlignedData,
    place,
  );
  const observer = new ResizeObserver(() =>
    chart.setSize({ width: place.clientWidth || 300, height }),
  );
  observer.observe(place);
  return {
    show(data, shownMarks) {
      marks = shownMarks;
      chart.setData(data as unknown as AlignedData);
    },
    end() {
      observer.disconnect();
      chart.destroy();
    },
  };
}

/** Room for half a bar at both ends. */
function barRange({ data }: uPlot, first: number, last: number): [number, number] {
  const [times] = data;
  const half = ((times[1] ?? first + DAY_S) - (times[0] ?? first)) / 2;
  return [first - half, last + half];
}

type ColourOf = (name: string) => string;

/** Colours of the theme as the browser resolves them. */
function colours(place: HTMLElement): ColourOf {
  const probe = document.createElement("span");
  place.append(probe);
  const resolved = new Map<string, string>();
  for (const name of [
    "--chart-1",
    "--chart-2",
    "--chart-3",
    "--chart-4",
    "--chart-5",
    "--muted",
    "--chart-grid",
  ]) {
    probe.style.color = `var(${name})`;
    resolved.set(name, getComputedStyle(probe).color);
  }
  probe.remove();
  return (name) => resolved.get(name) ?? "gray";
}

function seriesOf({ name, colour, kind = "line" }: Series, colourOf: ColourOf): uPlot.Series {
  const stroke = colourOf(`--chart-${colour}`);
  const points = { show: true, size: 4, stroke, fill: stroke, filter: lonePoints };
  const shared = { label: name, stroke, width: 1.5, points };
  if (kind === "bars")
    return {
      ...shared,
      width: 0,
      points: { show: false },
      fill: stroke,
      paths: uPlot.paths.bars?.({ size: [0.7, 40] }) ?? null,
    } as uPlot.Series;
  const dash = DASHES[colour - 1] ?? [];
  const line = { ...shared, ...(dash.length > 0 && { dash }) };
  if (kind === "line") return line;
  return { ...line, fill: stroke.replace(/\)$/, " / 0.16)") };
}

function axesOf(
  place: HTMLElement,
  { format, isWhole = false, isDaily = false }: DrawOptions,
  colourOf: ColourOf,
): NonNullable<Options["axes"]> {
  const font = `${FONT_SIZE}px ${getComputedStyle(place).fontFamily}`;
  const shared = {
    font,
    stroke: colourOf("--muted"),
    ticks: { show: false },
    grid: { stroke: colourOf("--chart-grid"), width: 1 },
  };
  return [
    {
      ...shared,
      grid: { show: false },
      size: TIME_AXIS_SIZE,
      space: AXIS_SPACE,
      ...(isDaily
        ? { incrs: DAILY_STEPS, values: (_: uPlot, at: readonly number[]) => at.map(utcDay) }
        : { values: timesOf }),
    },
    {
      ...shared,
      size: AXIS_SPACE,
      space: 30,
      incrs: isWhole ? WHOLE_STEPS : STEPS,
      values: (_, values) => values.map((one) => format(one)),
    },
  ];
}

/** Lines over the plot, at the begin of a generation. */
function drawMarks(chart: uPlot, marks: readonly ChartMark[], colour: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { at } of marks) {
    const x = Math.round(chart.valToPos(at, "x", true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** A point between two gaps has no line, so it is drawn as a point. */
function lonePoints(chart: uPlot, series: number): number[] {
  const values = chart.data[series] ?? [];
  const isGap = (index: number): boolean => values[index] == null;
  return [...values.keys()].filter(
    (index) => !isGap(index) && isGap(index - 1) && isGap(index + 1),
  );
}

const clock = times({ hour: "2-digit", minute: "2-digit" });
const day = times({ day: "numeric", month: "short" });
const daily = times({ day: "numeric", month: "short", timeZone: "UTC" });

/** The day of UTC that begins at a time. */
export function utcDay(at: number): string {
  return daily().format(new Date(at * 1_000));
}

/** Labels of the time axis: the day where the steps are days, and at midnight. */
function timesOf(_: uPlot, splits: readonly number[]): string[] {
  const isDaily = (splits[1] ?? 0) - (splits[0] ?? 0) >= DAY_S;
  return splits.map((at) => {
    const date = new Date(at * 1_000);
    const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
    return isDaily || isMidnight ? day().format(date) : clock().format(date);
  });
}
