import type { AuditRecord } from "@xo-server/store";

export interface LineOptions {
  /** Name of this machine. */
  readonly host: string;
  /** Maximum length of a line, in bytes. */
  readonly maxBytes: number;
}

/**
 * Maximum length of a text in a line that had to be shortened, in characters: ten
 * such texts fit in 2 KiB.
 */
const SHORT = 100;

/** An entry as JSON in one line of ASCII. Above the maximum its parameters are left out, then long texts are truncated. */
export function toAuditLine(
  record: AuditRecord,
  { host, maxBytes }: LineOptions,
): string {
  const { time, parameters, ...others } = record;
  const members = { time: new Date(time).toISOString(), host, ...others };
  const line = toAscii({ ...members, parameters });
  if (line.length <= maxBytes) return line;
  const leftOut = `${JSON.stringify(parameters).length} characters`;
  const brief = toAscii({ ...members, parameters: { leftOut } });
  if (brief.length <= maxBytes) return brief;
  const short = Object.entries(members).map(([key, value]) => [
    key,
    typeof value === "string" ? toPrintable(value) : value,
  ]);
  return toAscii({
    ...(Object.fromEntries(short) as object),
    parameters: { leftOut },
  });
}

/**
 * Encodes JSON with all non-ASCII characters escaped, so that receivers need not
 * know an encoding.
 */
function toAscii(value: object): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) =>
      `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function toPrintable(text: string): string {
  return text.slice(0, SHORT).replace(/[^ -~]/g, "?");
}
