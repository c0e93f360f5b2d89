import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { gzipSync } from "node:zlib";
import type {
  HandlerContext,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import { escapeXml } from "../rpc/xml-writer.js";
import type { XapiValue } from "../xapi-value.js";

export const reportHandlers: readonly HttpHandler[] = [
  {
    name: "get_pool_xmldbdump",
    method: "GET",
    path: "/pool/xmldbdump",
    handle: dumpDatabase,
  },
  {
    name: "get_audit_log",
    method: "GET",
    path: "/audit_log",
    handle: auditLog,
  },
  {
    name: "get_host_logs_download",
    method: "GET",
    path: "/host_logs_download",
    handle: hostLogs,
  },
  // Public blobs need no credentials, so those are not verified before the parameters are.
  {
    name: "get_blob",
    method: "GET",
    path: "/blob",
    credentials: "none",
    taskless: true,
    handle: getBlob,
  },
];

const noCache = ["Cache-Control", "no-cache, no-store"] as const;

async function dumpDatabase(
  _: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): Promise<void> {
  const stream = response.start({
    version: "1.1",
    headers: [["Connection", "close"], noCache],
  });
  await pipeline(Readable.from(tables(context)), stream);
}

/**
 * The database as XAPI stores it on disk; of hidden columns and column names only what is on the
 * wire is known.
 */
function* tables({ db }: HandlerContext): Generator<string> {
  yield (
    '<?xml version="1.0" encoding="UTF-8"?>\n<database><manifest><pair key="schema_major_vsn" value="5"/>' +
    `<pair key="schema_minor_vsn" value="909"/><pair key="generation_count" value="${db.generation}"/></manifest>`
  );
  const names = [...db.tables()]
    .map(({ className }) => className)
    .filter((name) => name !== "message");
  for (const name of names.sort()) {
    if (db.count(name) === 0) yield `<table name="${name}"/>`;
    else {
      yield `<table name="${name}">`;
      for (const { ref, record, created, modified } of db
        .table(name)
        .rows.values())
        yield `<row ref="${ref}" __ctime="${created}" __mtime="${modified}" _ref="${ref}" ${columns(record)}/>`;
      yield "</table>";
    }
  }
  yield "</database>";
}

function columns(record: Readonly<Record<string, XapiValue>>): string {
  return Object.entries(record)
    .map(
      ([name, value]) => `${name.replace(/^name_/, "name__")}="${cell(value)}"`,
    )
    .sort()
    .join(" ");
}

/** Sets are `('a'%.'b')`, maps `(('k'%.'v'))`, and a space is `%.`. */
function cell(value: XapiValue): string {
  if (Array.isArray(value))
    return `(${(value as readonly XapiValue[]).map((item) => quoted(item)).join("%.")})`;
  if (typeof value === "object")
    return `(${Object.entries(value)
      .map(([key, item]) => `(${quoted(key)}%.${quoted(item)})`)
      .join("%.")})`;
  return spaced(String(value));
}

function quoted(value: XapiValue): string {
  return typeof value === "object"
    ? cell(value)
    : `'${spaced(String(value).replace(/'/g, "\\'"))}'`;
}

function spaced(text: string): string {
  return escapeXml(text)
    .replace(/%/g, "%%")
    .replace(/ /g, "%.")
    .replace(/\n/g, "%n")
    .replace(/\t/g, "%t");
}

/** Nothing is audited here: an empty log. */
function auditLog(_: HandlerRequest, response: HandlerResponse): void {
  response
    .start({
      version: "1.1",
      headers: [
        ["Connection", "keep-alive"],
        noCache,
        ["content-type", "text/plain"],
      ],
    })
    .end();
}

/** There are no logs: an archive without files. */
async function hostLogs(
  _: HandlerRequest,
  response: HandlerResponse,
): Promise<void> {
  const stream = response.start({
    version: "1.1",
    headers: [
      ["Connection", "close"],
      noCache,
      ["content-type", "application/x-tgz"],
    ],
  });
  const emptyTar = gzipSync(Buffer.alloc(1024));
  await pipeline(Readable.from([emptyTar]), stream);
}

function getBlob({ query }: HandlerRequest, response: HandlerResponse): void {
  response.bare(query.has("ref") || query.has("uuid") ? 404 : 400);
}
