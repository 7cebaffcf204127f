/** A line as high as a word. Its numbers stand elsewhere: it is hidden from screen readers. */

const WIDTH = 96;
const HEIGHT = 22;

/** The line. A gap is an unknown value. */
export function Spark({ values }: { readonly values: readonly (number | null)[] }) {
  const most = Math.max(...values.map((value) => value ?? 0), 1e-9);
  const step = WIDTH / Math.max(1, values.length - 1);
  let path = "";
  let isPen = false;
  values.forEach((value, index) => {
    if (value === null) {
      isPen = false;
      return;
    }
    const x = (index * step).toFixed(1);
    const y = (HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1);
    path += `${isPen ? "L" : "M"}${x} ${y}`;
    isPen = true;
  });
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" focusable="false">
      <path d={path} />
    </svg>
  );
}
