interface SparkBox {
  readonly width: number;
  readonly height: number;
  /** Value at the top of the chart. */
  readonly top: number;
}

/**
 * SVG path data for a line through the values, from the left edge to the right;
 * it breaks where a value is null. With `closed` each piece is an area down to
 * the bottom.
 */
export function sparkPath(
  values: readonly (number | null)[],
  { width, height, top }: SparkBox,
  closed = false,
): string {
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const pieces: string[] = [];
  let from = -1;
  for (let i = 0; i <= values.length; i += 1) {
    if (i < values.length && values[i] !== null) {
      if (from < 0) from = i;
      continue;
    }
    if (from >= 0) pieces.push(piece(from, i - 1));
    from = -1;
  }
  return pieces.join("");

  function piece(first: number, last: number): string {
    let path = "";
    for (let i = first; i <= last; i += 1) {
      const share = top > 0 ? Math.min(values[i]! / top, 1) : 0;
      const y = height - Math.max(share, 0) * height;
      path += `${i === first ? "M" : "L"}${round(i * step)} ${round(y)}`;
    }
    if (!closed) return path;
    return `${path}L${round(last * step)} ${height}L${round(first * step)} ${height}Z`;
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
