import type { Logger } from "@xo-server/kit";
import {
  classNameOf,
  mirroredClasses,
  XoError,
  type RecordBatch,
} from "@xo-server/model";
import type { CallExecutor } from "./call-executor.js";
import { xmlRpcTransport } from "../transports/xml-rpc.js";
import type { ListOptions, ListResult } from "../xapi.js";

export interface ListingOptions {
  readonly executor: CallExecutor;
  readonly logger: Logger;
  readonly label: string;
  readonly callTimeoutMs: number;
  /** Transport `auto`: fall back to XML-RPC when the selected one fails. */
  readonly isAuto: boolean;
}

/** Streams `get_all_records` of a class to `list.onBatch`. @throws XapiError, XoError, possibly after some batches */
export async function listRecords(
  options: ListingOptions,
  className: string,
  list: ListOptions,
): Promise<ListResult> {
  const { executor, logger, label, isAuto } = options;
  let records = 0;
  const request = {
    method: `${classNameOf(className)}.get_all_records`,
    className: classNameOf(className),
    params: [],
    shape: "records" as const,
    priority: list.priority ?? ("bulk" as const),
    isKept: list.isKept,
    timeoutMs: list.timeoutMs ?? options.callTimeoutMs,
    signal: list.signal,
    onBatch: (batch: RecordBatch) => {
      records += batch.count;
      list.onBatch(batch);
    },
  };
  try {
    const { bytes } = await executor.request(request);
    return { records, bytes };
  } catch (error) {
    // XAPI in a 32-bit dom0 fails with HTTP 500 for JSON answers over 16 MB (xapi-project/xen-api#2337) but streams XML.
    if (!isAuto || records > 0 || !isServerError(error)) throw error;
    logger.warn(
      `${label}: ${request.method} failed with HTTP 500, falling back to xml-rpc for this call`,
    );
    const { bytes } = await executor.request({
      ...request,
      transport: xmlRpcTransport,
    });
    return { records, bytes };
  }
}

/** Classes to mirror that the pool lists in system.listMethods. Classes removed from XAPI keep a name in the data model but cannot be listed. */
export async function listableClasses(
  options: ListingOptions,
): Promise<readonly string[]> {
  const names = await options.executor.value({
    method: "system.listMethods",
    params: [],
    priority: "call",
    timeoutMs: options.callTimeoutMs,
  });
  const known = new Set(Array.isArray(names) ? names : []);
  return mirroredClasses().filter((name) =>
    known.has(`${name}.get_all_records`),
  );
}

function isServerError(error: unknown): boolean {
  return (
    error instanceof XoError &&
    error.code === "HTTP_STATUS" &&
    error.data["status"] === 500
  );
}
