/** Draws a chart with uPlot, in the colours of the present theme. */

import uPlot, { type AlignedData, type Options } from "uplot";

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
}

/** Dashes by the number of the colour, so that lines differ without it. */
const DASHES: readonly number[][] = [[], [6, 4], [2, 3], [10, 4, 2, 4], [1, 4]];
const AXIS_SPACE = 64;
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
      cursor: { y: false, points: { size: 7 } },
      scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } },
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
  const shared = { label: name, stroke, width: 1.5, points: { show: false } };
  if (kind === "bars")
    return {
      ...shared,
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
  { format }: DrawOptions,
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
    { ...shared, grid: { show: false }, space: AXIS_SPACE },
    {
      ...shared,
      size: AXIS_SPACE,
      space: 36,
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
