import { BASE_STEP, archives, lastRow, type Archive } from "./archives.js";
import type { Metric } from "./metric.js";
import { toRrdNumber } from "./number-text.js";
import { average } from "./xport.js";

/** Seconds without a measurement after which a value is unknown. */
const HEARTBEAT = 300;

/** A whole RRD as XML (`host_rrd`, `vm_rrd`, `sr_rrd`): all archives, oldest row first. @param now Unix seconds, with a fraction */
export function rrdXml(metrics: readonly Metric[], now: number): string {
  const sources = metrics.map((metric) => sourceXml(metric, now)).join("");
  const parts = archives
    .map((archive) => archiveXml(metrics, archive, now))
    .join("");
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<rrd><version>0003</version><step>${BASE_STEP}</step><lastupdate>${Math.floor(now)}</lastupdate>${sources}${parts}</rrd>`
  );
}

function sourceXml(metric: Metric, now: number): string {
  const value = toRrdNumber(metric.valueAt(Math.floor(now)));
  return (
    `<ds><name>${metric.name}</name><type>${metric.type}</type><minimal_heartbeat>${HEARTBEAT}</minimal_heartbeat>` +
    `<min>0.0</min><max>${toRrdNumber(metric.max)}</max><last_ds>${value}</last_ds><value>${value}</value>` +
    "<unknown_sec>0</unknown_sec></ds>"
  );
}

const PREPARED_XML =
  "<ds><primary_value>0.0</primary_value><secondary_value>0.0</secondary_value><value>0.0</value><unknown_datapoints>0</unknown_datapoints></ds>";

function archiveXml(
  metrics: readonly Metric[],
  archive: Archive,
  now: number,
): string {
  const rows = rowsOf(metrics, archive, now)
    .map(
      (values) =>
        `<row>${values.map((value) => `<v>${value}</v>`).join("")}</row>`,
    )
    .join("");
  return (
    `<rra><cf>AVERAGE</cf><pdp_per_row>${archive.step / BASE_STEP}</pdp_per_row><params><xff>0.5</xff></params>` +
    `<cdp_prep>${PREPARED_XML.repeat(metrics.length)}</cdp_prep><database>${rows}</database></rra>`
  );
}

/** The same as JSON, in which every number is a string. */
export function rrdJson(metrics: readonly Metric[], now: number): string {
  const lastupdate = toRrdNumber(Math.round(now * 100) / 100);
  return JSON.stringify({
    version: "0003",
    step: String(BASE_STEP),
    lastupdate,
    ds: metrics.map((metric) => {
      const value = toRrdNumber(metric.valueAt(Math.floor(now)));
      return {
        name: metric.name,
        type: metric.type,
        minimal_heartbeat: String(HEARTBEAT),
        min: "0.0",
        max: toRrdNumber(metric.max),
        last_ds: value,
        value,
        unknown_sec: "0.0",
        last_updated: lastupdate,
      };
    }),
    rra: archives.map((archive) => ({
      cf: "AVERAGE",
      pdp_per_row: String(archive.step / BASE_STEP),
      params: { xff: "0.5" },
      cdp_prep: { ds: metrics.map(() => PREPARED_JSON) },
      database: rowsOf(metrics, archive, now),
    })),
  });
}

const PREPARED_JSON = {
  primary_value: "0.0",
  secondary_value: "0.0",
  value: "0.0",
  unknown_datapoints: "0",
};

function rowsOf(
  metrics: readonly Metric[],
  archive: Archive,
  now: number,
): readonly (readonly string[])[] {
  const first = lastRow(archive, now) - (archive.rows - 1) * archive.step;
  return Array.from({ length: archive.rows }, (_, i) =>
    metrics.map((metric) =>
      toRrdNumber(average(metric, first + i * archive.step, archive.step)),
    ),
  );
}
