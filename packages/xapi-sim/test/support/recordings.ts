import { existsSync, readFileSync } from "node:fs";
import { parseLenient } from "@xo-server/model";
import type { FleetObject, XapiRecord } from "../../src/xapi-value.js";

/** Genuine exchanges with a real XAPI, beside the repository where they are at all. */
const DIRECTORY = new URL(
  "../../../../../../shared/xapi/recordings/",
  import.meta.url,
);

export const haveRecordings = existsSync(new URL("index.json", DIRECTORY));

export interface Recording {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly format: string;
  /** Absent where the request is not a call that its writer knew. */
  readonly method?: string;
  readonly status_line: string;
  /** `content-length`, `eof`, `open` or `timeout`. */
  readonly body_end: string;
  readonly request: Buffer;
  readonly response: Buffer;
}

export function readRecordings(): Recording[] {
  const index = JSON.parse(
    readFileSync(new URL("index.json", DIRECTORY), "utf8"),
  ) as (Record<string, string> & { request: string; response: string })[];
  return index.map(
    (entry) =>
      ({
        ...entry,
        request: readFileSync(new URL(entry.request, DIRECTORY)),
        response: readFileSync(new URL(entry.response, DIRECTORY)),
      }) as unknown as Recording,
  );
}

/** The objects that the recorded listings show: a pool for the replay to run against. */
export function recordedFleet(recordings: readonly Recording[]): FleetObject[] {
  const objects: FleetObject[] = [];
  for (const { id, method, response } of recordings) {
    if (!/^\d+-records-(?!VM_where|.*(after|role))\w+-json2$/.test(id))
      continue;
    const className = method!.replace(".get_all_records", "");
    const { result } = parseLenient(bodyOf(response)) as {
      result?: Record<string, XapiRecord>;
    };
    if (result === undefined || className === "secret") continue;
    for (const [ref, record] of Object.entries(result))
      if (!objects.some((known) => known.ref === ref))
        objects.push({ className, ref, record });
  }
  return objects;
}

export function bodyOf(message: Buffer): string {
  return message.subarray(message.indexOf("\r\n\r\n") + 4).toString("utf8");
}

export function headOf(message: Buffer): string {
  return message.subarray(0, message.indexOf("\r\n\r\n")).toString("latin1");
}
