/** Rows requested from the server. */
export interface RowWindow {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Windows begin and end at multiples of this number, so that scrolling by a few
 * rows sends no request.
 */
const STEP = 16;

/**
 * The window for the visible rows: with as many before and behind them, so that rows are
 * loaded before they are scrolled into view.
 * @param known the current window; it stays while at least half of that margin is left
 */
export function windowAround(
  { first, end }: { readonly first: number; readonly end: number },
  known?: RowWindow,
): RowWindow {
  const margin = Math.max(end - first, 2 * STEP);
  if (known !== undefined && coversWell(known, first, end, margin))
    return known;
  const offset = Math.max(floor(first - margin), 0);
  return { offset, limit: floor(end + margin + STEP - 1) - offset };
}

function coversWell(
  { offset, limit }: RowWindow,
  first: number,
  end: number,
  margin: number,
): boolean {
  const before = offset === 0 ? Infinity : first - offset;
  const after = offset + limit - end;
  // Limits the rows that are kept up to date beyond the visible ones.
  return Math.min(before, after) >= margin / 2 && limit <= 6 * margin;
}

function floor(row: number): number {
  return Math.floor(row / STEP) * STEP;
}
