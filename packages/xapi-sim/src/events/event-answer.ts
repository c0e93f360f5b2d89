import { rowJson, rowXml } from "../listings.js";
import type { Answer } from "../rpc/answer.js";
import type { Collected, CollectedEvent } from "./collect.js";
import { formatToken } from "./token.js";

/** The answer of event.from, members in XAPI's order. The records are the rows' own bytes. */
export function eventAnswer(
  { events, position }: Collected,
  counts: readonly (readonly [string, number])[],
): Answer {
  const token = formatToken(position);
  return {
    json: () => eventsJson(events, counts, token),
    xml: () => eventsXml(events, counts, token),
  };
}

function eventsJson(
  events: readonly CollectedEvent[],
  counts: readonly (readonly [string, number])[],
  token: string,
): (string | Buffer)[] {
  const chunks: (string | Buffer)[] = ['{"events":['];
  let separator = "";
  for (const { id, className, operation, ref, row } of events) {
    chunks.push(
      `${separator}{"id":"${id}","timestamp":"0.0","class":"${className.toLowerCase()}","operation":"${operation}","ref":"${ref}"`,
    );
    if (row !== undefined) chunks.push(',"snapshot":', rowJson(row));
    separator = "},";
  }
  const refs = counts.map(([name, count]) => `"${name}":${count}`).join(",");
  chunks.push(
    `${events.length > 0 ? "}" : ""}],"valid_ref_counts":{${refs}},"token":"${token}"}`,
  );
  return chunks;
}

function eventsXml(
  events: readonly CollectedEvent[],
  counts: readonly (readonly [string, number])[],
  token: string,
): (string | Buffer)[] {
  const chunks: (string | Buffer)[] = [
    "<value><struct><member><name>events</name><value><array><data>",
  ];
  for (const { id, className, operation, ref, row } of events) {
    chunks.push(
      `<value><struct>${member("id", String(id))}${member("timestamp", "0.0")}${member("class", className.toLowerCase())}${member("operation", operation)}${member("ref", ref)}`,
    );
    if (row !== undefined)
      chunks.push("<member><name>snapshot</name>", rowXml(row), "</member>");
    chunks.push("</struct></value>");
  }
  const refs = counts
    .map(
      ([name, count]) =>
        `<member><name>${name}</name><value><i4>${count}</i4></value></member>`,
    )
    .join("");
  chunks.push(
    `</data></array></value></member><member><name>valid_ref_counts</name><value><struct>${refs}</struct></value></member>${member("token", token)}</struct></value>`,
  );
  return chunks;
}

function member(name: string, value: string): string {
  return `<member><name>${name}</name><value>${value}</value></member>`;
}
