/**
 * A chart over time, with a table of the same numbers. Lines differ by their dashes too, and the
 * values under the pointer stand in the legend.
 */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import { useCell } from "../app/cell.ts";
import { themeCell } from "../app/theme.ts";
import { type ChartMark, type Drawing, draw, type Series, utcDay } from "./chart-drawing.ts";
import { atClock } from "./format.ts";
import { Panel } from "./page.tsx";

/** What a chart shows. */
export interface ChartProps {
  readonly title: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number | null | undefined) => string;
  /** What happened at a time: a new generation. */
  readonly marks?: readonly ChartMark[];
  /** Whether a point is a day. */
  readonly isDaily?: boolean;
  readonly height?: number;
  readonly isWhole?: boolean;
}

const HEIGHT = 180;

/** The panel with the chart. */
export function ChartPanel(props: ChartProps) {
  const { title, times, series, format, isDaily = false, marks = [] } = props;
  const [at, setAt] = useState<number | null>(null);
  const index = at !== null && at < times.length ? at : null;
  const timeText = (of: number): string => (isDaily ? utcDay(of) : atClock(of * 1_000));
  const shownTime = index === null ? undefined : times[index];
  return (
    <Panel
      title={title}
      end={
        <span class="muted small num">{shownTime === undefined ? "" : timeText(shownTime)}</span>
      }
    >
      <figure class="chart">
        <ul class="legend">
          {series.map(({ name, colour, values }) => (
            <li key={name}>
              <span class={`swatch s${colour}`} aria-hidden="true" />
              {name}
              <span class="num">{index === null ? "" : format(values[index])}</span>
            </li>
          ))}
        </ul>
        <Canvas {...props} onPoint={setAt} />
        <details>
          <summary>Numbers</summary>
          <ChartTable {...props} timeText={timeText} />
        </details>
        {marks.length > 0 && (
          <figcaption class="muted small">
            Vertical lines: {marks.map(({ text }) => text).join(", ")}.
          </figcaption>
        )}
      </figure>
    </Panel>
  );
}

function Canvas(props: ChartProps & { readonly onPoint: (index: number | null) => void }) {
  const { title, times, series, height = HEIGHT } = props;
  const theme = useCell(themeCell);
  const isDark = useDarkSystem();
  const place = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | undefined>(undefined);
  const shape = series.map(({ name }) => name).join("\n");
  useEffect(() => {
    if (place.current === null) return;
    const made = draw(place.current, { ...props, height });
    drawing.current = made;
    return () => made.end();
    // Another theme has other colours; other series are another chart.
  }, [theme, isDark, shape, height]);
  const isEmpty = series.every(({ values }) => values.every((value) => value === null));
  const data = useMemo(() => [times, ...series.map(({ values }) => values)], [times, series]);
  useEffect(() => drawing.current?.show(data, props.marks ?? []), [data, props.marks]);
  return (
    <div class="canvas">
      <div
        ref={place}
        style={{ height: `${height}px` }}
        role="img"
        aria-label={`${title}. The numbers are in the table below.`}
      />
      {isEmpty && <p class="no-values">No values in this time</p>}
    </div>
  );
}

/** Whether the system asks for dark colours; the chart is drawn again when that changes. */
function useDarkSystem(): boolean {
  const query = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const onChange = (): void => setDark(query.matches);
    query.addEventListener("change", onChange);
    return () => query.removeEventListener("change", onChange);
  }, []);
  return isDark;
}

function ChartTable(props: ChartProps & { readonly timeText: (of: number) => string }) {
  const { title, times, series, format, timeText } = props;
  return (
    // A scrollable region must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div class="table-box chart-table" tabIndex={0} role="region" aria-label={`${title}, numbers`}>
      <table class="table">
        <caption class="unseen">{title}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" class="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times
            .map((time, index) => ({ time, index }))
            .toReversed()
            .map(({ time, index }) => (
              <tr key={time}>
                <th scope="row">{timeText(time)}</th>
                {series.map(({ name, values }) => (
                  <td key={name} class="num">
                    {format(values[index])}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
