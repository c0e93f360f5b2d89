import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { gzipSync } from "node:zlib";
import type {
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";

export const reportHandlers: readonly HttpHandler[] = [
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
