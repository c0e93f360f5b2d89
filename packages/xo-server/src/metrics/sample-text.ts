/** The text that the Prometheus format and OpenMetrics have in common. */

export type Labels = Readonly<Record<string, string | undefined>>;

interface FamilyHead {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
}

/** The HELP and TYPE lines of a metric. */
export function familyHead({ name, kind, help }: FamilyHead): string {
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${kind}\n`;
}

/** Encodes `pool_id="...",uuid="..."`; empty labels are omitted. */
export function toLabels(labels: Labels): string {
  return Object.entries(labels)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name}="${escapeLabel(value!)}"`)
    .join(",");
}

/**
 * @param labels encoded by toLabels
 * @param time in seconds since the epoch; default: none
 */
export function sampleLine(
  name: string,
  labels: string,
  value: number,
  time?: number,
): string {
  const series = labels === "" ? name : `${name}{${labels}}`;
  const suffix = time === undefined ? "" : ` ${Math.floor(time)}`;
  return `${series} ${toNumber(value)}${suffix}\n`;
}

function toNumber(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
