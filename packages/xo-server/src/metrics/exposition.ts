/** One figure with its help; several samples where it comes apart by labels. Units stand in names: seconds, bytes. */
export interface Metric {
  /** `xo_...`; a counter's ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Of a histogram's samples: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
}

/** What `toExposition` writes. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The text that Prometheus and its like read: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function toExposition(metrics: readonly Metric[]): string {
  return metrics.map(toText).join("");
}

function toText({ name, help, kind, samples }: Metric): string {
  const lines = samples.map(
    ({ value, labels = {}, suffix = "" }) =>
      `${name}${suffix}${toLabels(labels)} ${toNumber(value)}`,
  );
  const head = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${kind}`];
  return `${[...head, ...lines].join("\n")}\n`;
}

function toLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([label, value]) => `${label}="${escapeLabel(value)}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
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

export function counter(name: string, help: string, value: number): Metric {
  return { name, help, kind: "counter", samples: [{ value }] };
}

export function gauge(name: string, help: string, value: number): Metric {
  return { name, help, kind: "gauge", samples: [{ value }] };
}

/** A figure that comes apart by one label. */
export function byLabel(
  { name, help, kind }: Omit<Metric, "samples">,
  label: string,
  values: Readonly<Record<string, number>>,
): Metric {
  const samples = Object.entries(values).map(([key, value]) => ({
    value,
    labels: { [label]: key },
  }));
  return { name, help, kind, samples };
}
