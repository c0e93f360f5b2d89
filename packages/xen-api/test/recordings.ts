import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TransportName } from "../src/index.js";

/** A genuine exchange with a real xapi, byte for byte. */
export interface Recording {
  readonly id: string;
  readonly group: string;
  /** The same for all formats of one exchange. */
  readonly subject: string;
  readonly transport: TransportName;
  /** Empty: not a call of this client. */
  readonly method: string;
  readonly response: Buffer;
  /** Body of the response. */
  readonly body: string;
}

interface IndexEntry {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly method?: string;
  readonly endpoint?: string;
  readonly response: string;
  readonly body_end: string;
}

const TRANSPORTS: Readonly<Record<string, TransportName>> = {
  "/": "xml-rpc",
  "/RPC2": "xml-rpc",
  "/json": "json-in-xml",
  "/jsonrpc": "json-rpc",
};

/** Folder of recordings next to the repository, if present. */
const directory = join(
  import.meta.dirname,
  "../../../../../shared/xapi/recordings",
);

export const noRecordings = existsSync(join(directory, "index.json"))
  ? false
  : "no recordings at ../shared/xapi beside the repository";

/** All complete recorded answers of XAPI. */
export function readRecordings(): readonly Recording[] {
  if (noRecordings !== false) return [];
  const index = JSON.parse(
    readFileSync(join(directory, "index.json"), "utf8"),
  ) as IndexEntry[];
  return index.flatMap(
    ({ id, group, name, method, endpoint, response: file, body_end: end }) => {
      if (end === "timeout") return [];
      const known = TRANSPORTS[endpoint ?? ""];
      const transport = known ?? "json-rpc";
      const response = readFileSync(join(directory, file));
      const body = response
        .subarray(response.indexOf("\r\n\r\n") + 4)
        .toString();
      const subject = `${group}-${name.replace(/-(xml|xmlRPC2|xmljson|json1|json2)$/, "")}`;
      return [
        {
          id,
          group,
          subject,
          transport,
          response,
          body,
          method: known === undefined ? "" : (method ?? ""),
        },
      ];
    },
  );
}
