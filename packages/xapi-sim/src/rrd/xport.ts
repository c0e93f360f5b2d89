import { BASE_STEP, chooseArchive, lastRow } from "./archives.js";
import type { Metric } from "./metric.js";
import { toRrdNumber } from "./number-text.js";

/** A column of an answer: whose metric it is. */
export interface Column {
  readonly owner: "host" | "vm" | "sr";
  readonly uuid: string;
  readonly metric: Metric;
}

/** rrdtool's xport: what `rrd_updates` answers. Newest row first. */
interface Xport {
  readonly start: number;
  readonly step: number;
  readonly end: number;
  readonly legend: readonly string[];
  readonly rows: readonly {
    readonly t: number;
    readonly values: readonly number[];
  }[];
}

interface XportQuery {
  /** Unix seconds; negative: relative to now. */
  readonly start: number;
  /** Seconds; 0: as fine as there is. */
  readonly interval: number;
}

/**
 * Rows of the archive that covers the start of the query, as `rrd_updates` returns them.
 * @param now in s since the epoch
 */
export function makeXport(
  columns: readonly Column[],
  query: XportQuery,
  now: number,
): Xport {
  const start =
    query.start < 0
      ? lastRow({ step: BASE_STEP, rows: 0 }, now) + query.start
      : query.start;
  const archive = chooseArchive(now, start, query.interval);
  const { step } = archive;
  const end = lastRow(archive, now);
  const rows = [];
  for (let i = 0, t = end; t >= start && i < archive.rows; i++, t -= step)
    rows.push({
      t,
      values: columns.map(({ metric }) => average(metric, t, step)),
    });
  return {
    // Rounded up to the next step, as xapi-rrd does: not the time of the first row.
    start: (Math.floor(start / step) + 1) * step,
    step,
    end,
    legend: columns.map(
      ({ owner, uuid, metric }) => `AVERAGE:${owner}:${uuid}:${metric.name}`,
    ),
    rows,
  };
}

/** The mean over the step that ends at `t`, of a few points: steps of a day have 17,280. */
export function average(metric: Metric, t: number, step: number): number {
  const points = Math.min(6, step / BASE_STEP);
  let sum = 0;
  for (let i = 0; i < points; i++)
    sum += metric.valueAt(t - (i * step) / points);
  return sum / points;
}

/** Writes xport data as JSON, in which all numbers are strings, also in the metadata. */
export function xportJson({ start, step, end, legend, rows }: Xport): string {
  const meta = {
    start: String(start),
    step: String(step),
    end: String(end),
    rows: String(rows.length),
    columns: String(legend.length),
    legend,
  };
  const data = rows.map(({ t, values }) => ({
    t: String(t),
    values: values.map(toRrdNumber),
  }));
  return JSON.stringify({ meta, data });
}

/** Writes xport data as XML, rows in the order given. */
export function xportXml({ start, step, end, legend, rows }: Xport): string {
  const entries = legend
    .map((entry) => `<entry>${escape(entry)}</entry>`)
    .join("");
  const data = rows
    .map(
      ({ t, values }) =>
        `<row><t>${t}</t>${values.map((value) => `<v>${toRrdNumber(value)}</v>`).join("")}</row>`,
    )
    .join("");
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<xport><meta><start>${start}</start><step>${step}</step><end>${end}</end>` +
    `<rows>${rows.length}</rows><columns>${legend.length}</columns>` +
    `<legend>${entries}</legend></meta><data>${data}</data></xport>`
  );
}

function escape(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;");
}
