import type { Readable } from "node:stream";
import type { CallContext } from "../operations/operation.js";

/** Description of a transfer, for its task and the audit log. */
export interface TransferSubject {
  /** Name of the operation. */
  readonly operation: string;
  /** Name of the task. */
  readonly name: string;
  readonly object: { readonly id: string; readonly type: string };
  /** Shown to clients: without secrets. */
  readonly params: object;
  readonly context: CallContext;
  /**
   * Computes the SHA-256 of all bytes, for the task, the audit log and the
   * trailer of the body. Default: no.
   */
  readonly hasChecksum?: boolean;
}

/** The task of a transfer: its cancellation and its progress. */
export interface TransferTask {
  /** Aborted when the task is cancelled. */
  readonly signal: AbortSignal;
  /** 0 to 1. */
  progress(fraction: number): void;
  /**
   * See TaskContext.persistState: what is needed to clean up after a crash of the server.
   * @throws XoError TASK_TAKEN_OVER, STORE_UNAVAILABLE: no other server knows this state, so that the caller has to clean up
   */
  persistState(state: object): Promise<void>;
}

/** Source of a download. */
export interface Source {
  /** As `Content-Type` says it. */
  readonly type: string;
  readonly body: Readable;
  /** Size in bytes, if known before. */
  readonly length?: number;
  /** Resolves when the pool has confirmed that the data is complete; rejects if not. */
  readonly finished?: () => Promise<void>;
  /** Entity tag of bytes that never change: an interrupted download can be resumed. */
  readonly etag?: string;
}

/** An upload. */
export interface Delivery {
  readonly body: Readable;
  /** Size in bytes, if the client has sent it. */
  readonly length: number | undefined;
  /** Expected SHA-256. The end is held back until the data matches. */
  readonly sha256?: Buffer | undefined;
}

/** A download that is ready to be read. It ends with an error if it is incomplete. */
export interface OpenDownload {
  readonly type: string;
  readonly body: Readable;
  /** Total size in bytes, also for a partial response. */
  readonly length?: number;
  readonly fileName?: string;
  readonly etag?: string;
  /** Offset of the first byte sent; absent: all bytes. */
  readonly from?: number;
  /** Returns the SHA-256 of all bytes after the end of the body; absent: not requested. */
  readonly sha256?: () => Buffer;
}

/** The range that a client requests to resume a download. */
export interface Continuation {
  /** Offset of the first byte. */
  readonly from: number;
  /** Entity tag of the bytes that the client has (If-Range); absent: any. */
  readonly etag?: string | undefined;
}

/** @param rest the requested range; all bytes are sent if the range is not possible */
export type OpenTransfer = (rest?: Continuation) => Promise<OpenDownload>;

/** @returns the result of the operation */
export type ReceiveTransfer = (delivery: Delivery) => Promise<unknown>;
