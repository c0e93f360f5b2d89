const COLOURS: Readonly<Record<string, string>> = {
  debug: "\u001b[90m",
  info: "\u001b[36m",
  warn: "\u001b[33m",
  error: "\u001b[31m",
};
const RESET = "\u001b[0m";

/**
 * Formats a JSON log line for humans:
 * `2026-11-21T06:00:00.000Z info xo:main Web server listening on http://0.0.0.0:9000`.
 * Data follow as `key=value`.
 */
export function toConsoleLine(jsonLine: string, colour: boolean): string {
  const { time, level, name, msg, ...data } = JSON.parse(jsonLine) as {
    time: string;
    level: string;
    name: string;
    msg?: string;
  };
  const source = `${level} ${name}`;
  const shown = colour ? `${COLOURS[level] ?? ""}${source}${RESET}` : source;
  return `${[time, shown, oneLine(msg ?? ""), ...toPairs(data)].join(" ")}\n`;
}

/** Priorities of syslog. */
const PRIORITIES: Readonly<Record<string, number>> = {
  debug: 7,
  info: 6,
  warn: 4,
  error: 3,
};

/**
 * Formats a JSON log line for the journal of systemd, which adds the time and reads
 * the priority from the prefix: `<6>xo:main Web server listening on http://0.0.0.0:9000`.
 */
export function toJournalLine(jsonLine: string): string {
  const { level, name, msg, ...data } = JSON.parse(jsonLine) as {
    level: string;
    name: string;
    msg?: string;
    time?: string;
  };
  delete data.time;
  const source = `<${PRIORITIES[level] ?? 6}>${name}`;
  return `${[source, oneLine(msg ?? ""), ...toPairs(data)].join(" ")}\n`;
}

function toPairs(data: object): string[] {
  return Object.entries(data).map(([key, value]) => {
    const isBare = typeof value === "string" && !/[\s"=]/.test(value);
    const text = isBare ? value : JSON.stringify(brief(value));
    return oneLine(`${key}=${text}`);
  });
}

/** Rounds numbers to two decimals. */
function brief(value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 100) / 100 : value;
}

// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes control characters and those that change the direction of text: external input must not forge log lines or control the terminal. */
function oneLine(text: string): string {
  return text.replace(CONTROL, (character) =>
    character < " "
      ? JSON.stringify(character).slice(1, -1)
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
