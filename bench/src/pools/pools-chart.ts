import { barChart, type Series } from "../harness/bar-chart.js";
import { formatMs } from "../harness/format.js";
import { figureOf, type Result } from "../harness/result.js";

/** `docs/benchmarks/pools.svg`: one group a pool, one bar a row. */
export function poolsChart(results: readonly Result[]): string {
  const single = results.filter(({ pool }) => pool !== "many");
  const pools = [...new Set(single.map(({ pool }) => pool))];
  const keys = [
    ...new Map(single.map((result) => [nameOf(result), result])).keys(),
  ];
  const series = keys.map((name): Series => ({
    name,
    colour: colourOf(name),
    pale: name.endsWith(" main"),
    values: pools.map((pool) =>
      figureOf(
        single.find(
          (result) => result.pool === pool && nameOf(result) === name,
        ),
        "ms",
      ),
    ),
  }));
  return barChart({
    title: "From connecting until every object is there",
    subtitle:
      "Milliseconds on a logarithmic scale, lower is better; medians. Pale: parsed on the main thread.",
    groups: pools.map((pool) => `Pool ${pool}`),
    series,
    label: formatMs,
  });
}

function nameOf({ mode, place }: Result): string {
  const single =
    place === "auto" || mode.startsWith("download") || mode.startsWith("peer:");
  return single ? mode : `${mode} ${place}`;
}

/** References are grey, ours green to brown by what is read, the peer orange and red. */
const COLOURS = [
  "download",
  "download:onread",
  "download+parse",
  "auto",
  "json-rpc",
  "json-in-xml",
  "xml-rpc",
  "xml-rpc:expat",
  "xml-rpc:xmlrpc",
  "peer:xen-api:json-rpc",
  "peer:xen-api:xml-rpc",
];

function colourOf(name: string): number {
  return Math.max(0, COLOURS.indexOf(name.split(" ")[0]!));
}
