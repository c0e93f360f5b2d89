import { fill, type Messages } from "../locale/messages.js";
import type { ChartLine } from "./chart-line.js";
import type { Metric, MetricLine } from "./metrics.js";

interface LineNaming {
  readonly text: Messages;
  /** Name of a member host. */
  readonly nameOf: (id: string) => string;
  /** Name of the comparison. */
  readonly comparedName: string;
}

/** The lines of a metric's chart: the metric, its members and the comparison. */
export function chartLines(
  { lines }: Metric,
  compared: ReadonlyMap<string, MetricLine> | undefined,
  naming: LineNaming,
): ChartLine[] {
  const own = lines.map(({ id, points, ...line }, colour): ChartLine => ({
    id,
    points,
    colour,
    label: lineName(line, naming),
  }));
  const others = own.flatMap((line): ChartLine[] => {
    const other = compared?.get(line.id);
    if (other === undefined) return [];
    const label = fill(naming.text.charts.comparedLine, {
      line: line.label,
      name: naming.comparedName,
    });
    return [
      {
        id: `${line.id}~`,
        label,
        points: other.points,
        colour: line.colour,
        isCompared: true,
      },
    ];
  });
  return [...own, ...others];
}

function lineName(
  {
    messageKey,
    core,
    member,
  }: Pick<MetricLine, "messageKey" | "core" | "member">,
  { text, nameOf }: LineNaming,
): string {
  if (messageKey !== undefined) return text.charts.lines[messageKey];
  if (core !== undefined) return fill(text.charts.core, { n: core });
  return nameOf(member ?? "");
}
