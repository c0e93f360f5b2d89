import {
  classNameOf,
  mirroredClasses,
  XoError,
  type RecordBatch,
} from "@xo-server/model";
import type { CallExecutor } from "./call-executor.js";
import type { Logger } from "./logger.js";
import { xmlRpcTransport } from "./transports/xml-rpc.js";
import type { ListOptions, ListResult } from "./xapi.js";

export interface ListingOptions {
  readonly executor: CallExecutor;
  readonly logger: Logger;
  readonly label: string;
  readonly callTimeoutMs: number;
  /** Another transport may be used when the chosen one fails. */
  readonly isAuto: boolean;
}

/** `get_all_records` of a class, in pieces. @throws XapiError, XoError; pieces may have been handed over by then */
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
    // A 32-bit dom0 cannot write JSON of more than 16 MB (xapi-project/xen-api#2337); XML it writes in pieces.
    if (!isAuto || records > 0 || !isServerError(error)) throw error;
    logger.warn(
      `${label}: ${request.method} failed with HTTP 500, falling back to xml-rpc for it`,
    );
    const { bytes } = await executor.request({
      ...request,
      transport: xmlRpcTransport,
    });
    return { records, bytes };
  }
}

/** Classes to mirror of which the pool has a listing. Removed ones keep their name and fail when listed. */
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
  return mirroredClasses.filter((name) => known.has(`${name}.get_all_records`));
}

function isServerError(error: unknown): boolean {
  return (
    error instanceof XoError &&
    error.code === "HTTP_STATUS" &&
    error.data["status"] === 500
  );
}
