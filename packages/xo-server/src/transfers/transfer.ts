import type { Readable } from "node:stream";
import type { CallContext } from "../operations/operation.js";

/** What is carried, for whom: for the task, and for the audit log. */
export interface TransferSubject {
  /** Name of the operation that it is the work of. */
  readonly operation: string;
  /** What it is about, in a few words. */
  readonly name: string;
  readonly object: { readonly id: string; readonly type: string };
  /** Without secrets: they are shown. */
  readonly params: object;
  readonly context: CallContext;
  /** Tells the SHA-256 of all bytes when they have come: in the task, the audit log, and after the body. Default: it does not. */
  readonly hasChecksum?: boolean;
}

/** How the work of a transfer hears of its end, and tells how it goes. */
export interface TransferTask {
  /** Aborted when the task is cancelled. */
  readonly signal: AbortSignal;
  /** 0 to 1. */
  progress(fraction: number): void;
  /** See TaskContext.persistState: what is needed to clean up after a crash of the server. */
  persistState(state: object): Promise<void>;
}

/** Bytes that can be fetched. */
export interface Source {
  /** As `Content-Type` says it. */
  readonly type: string;
  readonly body: Readable;
  /** Bytes, where they are known before. */
  readonly length?: number;
  /** Resolves when the other side has said that this was all; rejects where it was not. */
  readonly finished?: () => Promise<void>;
  /** Names bytes that never change: a download that was cut can go on where it was. */
  readonly etag?: string;
}

/** Bytes that come in. */
export interface Delivery {
  readonly body: Readable;
  /** Bytes, where they were announced. */
  readonly length: number | undefined;
  /** SHA-256 that the sender says all of it has. The end is held back until it has. */
  readonly sha256?: Buffer | undefined;
}

/** A download that is ready to be read. It ends with an error where it is not whole. */
export interface OpenDownload {
  readonly type: string;
  readonly body: Readable;
  /** Of all, in bytes, also where only the rest is sent. */
  readonly length?: number;
  readonly fileName?: string;
  readonly etag?: string;
  /** The first byte that is sent; absent: all are. */
  readonly from?: number;
  /** SHA-256 of all, to be asked for when the body has ended; absent: nobody wants to know. */
  readonly sha256?: () => Buffer;
}

/** How a client wants to go on with a download that was cut. */
export interface Continuation {
  /** The first byte wanted. */
  readonly from: number;
  /** The bytes that it has are of this; absent: of whatever there is. */
  readonly etag?: string | undefined;
}

/** @param rest where only the rest is wanted; all is sent where that cannot be */
export type OpenTransfer = (rest?: Continuation) => Promise<OpenDownload>;

/** @returns what the operation results in */
export type ReceiveTransfer = (delivery: Delivery) => Promise<unknown>;
