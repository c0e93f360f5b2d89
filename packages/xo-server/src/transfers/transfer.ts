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
}

/** How the work of a transfer hears of its end, and tells how it goes. */
export interface TransferWork {
  /** Aborted when nobody wants it any more. */
  readonly signal: AbortSignal;
  /** 0 to 1. */
  progress(fraction: number): void;
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
}

/** Bytes that come in. */
export interface Delivery {
  readonly body: Readable;
  /** Bytes, where they were announced. */
  readonly length: number | undefined;
}

/** A download that is ready to be read. It ends with an error where it is not whole. */
export interface OpenDownload {
  readonly type: string;
  readonly body: Readable;
  readonly length?: number;
  readonly fileName?: string;
}

export type OpenTransfer = () => Promise<OpenDownload>;

/** @returns what the operation results in */
export type ReceiveTransfer = (delivery: Delivery) => Promise<unknown>;
