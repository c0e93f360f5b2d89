export type Labels = Readonly<Record<string, string | undefined>>;

/** `pool_id="...",uuid="..."`; what is empty is left out. */
export function toLabels(labels: Labels): string {
  return Object.entries(labels)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name}="${escapeLabel(value!)}"`)
    .join(",");
}

export interface Family {
  /** A counter's ends in `_total`. */
  readonly name: string;
  readonly kind: "counter" | "gauge";
  readonly help: string;
}

/** Strict readers want a counter's family without the `_total` of its samples. */
export function familyHead({ name, kind, help }: Family): string {
  const family = kind === "counter" ? name.replace(/_total$/, "") : name;
  return `# HELP ${family} ${escapeHelp(help)}\n# TYPE ${family} ${kind}\n`;
}

/** @param time in s since 1970 */
export function sample(
  name: string,
  labels: string,
  value: number,
  time?: number,
): string {
  const told = labels === "" ? name : `${name}{${labels}}`;
  return time === undefined
    ? `${told} ${value}\n`
    : `${told} ${value} ${Math.floor(time)}\n`;
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
