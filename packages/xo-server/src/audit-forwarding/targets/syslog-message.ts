import type { AuditRecord } from "@xo-server/store";
import { toAuditLine, type LineOptions } from "./audit-line.js";

/** Facility "log audit" of RFC 5424. */
const FACILITY = 13;
const SEVERITIES: Readonly<Record<AuditRecord["outcome"], number>> = {
  success: 5, // notice
  failure: 4, // warning
  unknown: 4,
};

/** Maximum lengths of the fields of the header, in characters. */
const MAX_HOST = 255;
const MAX_MESSAGE_ID = 32;

/**
 * An entry as syslog message of RFC 5424, in ASCII: the message id is the
 * operation, the text the entry as JSON.
 * @param maxBytes of the whole message
 */
export function toSyslogMessage(
  record: AuditRecord,
  { host, maxBytes }: LineOptions,
): string {
  const priority = FACILITY * 8 + SEVERITIES[record.outcome];
  const time = new Date(record.time).toISOString();
  const id = toField(record.operation, MAX_MESSAGE_ID);
  const header = `<${priority}>1 ${time} ${toField(host, MAX_HOST)} xo-server - ${id} - `;
  const line = toAuditLine(record, {
    host,
    maxBytes: maxBytes - header.length,
  });
  return header + line;
}

/** Printable ASCII without blanks; `-` if there is nothing. */
function toField(text: string, maxLength: number): string {
  return text.replace(/[^!-~]/g, "_").slice(0, maxLength) || "-";
}
