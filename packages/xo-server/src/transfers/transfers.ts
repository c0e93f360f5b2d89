import type { WallClock } from "@xo-server/kit";
import { finished as onceFinished } from "node:stream";
import { XapiError, XoError } from "@xo-server/model";
import type { OneTimePaths } from "./one-time-paths.js";
import type { Audit } from "../operations/audit.js";
import type { Tasks } from "../tasks/tasks.js";
import { Checksum } from "./checksum.js";
import { toFileRefusal } from "./file-refusal.js";
import { drain, dropRest, feed } from "./feed.js";
import { Meter } from "./meter.js";
import type {
  Continuation,
  Delivery,
  OpenDownload,
  Source,
  TransferSubject,
  TransferTask,
} from "./transfer.js";

interface TransfersOptions {
  readonly paths: OneTimePaths;
  /** Default: no audit log. */
  readonly audit?: Audit;
  /** Default: transfers have no tasks. */
  readonly tasks?: Pick<Tasks, "prepare" | "follow" | "outcomeOf">;
  /** Resolves when the mirror shows the pool of this object as it is now. Default: immediately. */
  readonly caughtUp?: (id: string) => Promise<void>;
  readonly clock: WallClock;
  /** A transfer fails if no byte moves for this time, in ms. */
  readonly idleMs?: number;
}

/** Longer than pauses of slow readers; ends transfers of clients that no longer respond. */
const IDLE_MS = 300_000;

/** Outcome of a transfer. */
interface Outcome {
  readonly bytes: number;
  readonly result?: unknown;
  readonly error?: Error;
  /** Checksum of all bytes, if requested. */
  readonly sha256?: Buffer;
}

/** The expected end of a stream: its length, the confirmation of the pool, its checksum. */
interface Ending {
  readonly length: number | undefined;
  readonly finished?: Source["finished"] | undefined;
  readonly checksum?: Checksum | undefined;
  /** Bytes at the beginning that are skipped. */
  readonly skip?: number;
  /** Ends with the last byte of `length`, not with the end of the source. */
  readonly isSized?: boolean;
}

interface BegunTransfer {
  readonly work: TransferTask;
  /** A result is reported when it is in the database. @throws XoError TASK_TAKEN_OVER: another server has adopted the task before */
  readonly end: (outcome: Outcome) => Promise<void>;
  /** Settles as the promise does, but rejects as soon as another server may have adopted the task, or if the task cannot be stored. */
  readonly whileHeld: <T>(promise: Promise<T>) => Promise<T>;
}

/**
 * Streams data between clients and pools. Rights are checked when the path is
 * created. Each transfer is a task, and is written to the audit log with its
 * size when it has ended. No data is stored: the slower side sets the pace.
 */
export class Transfers {
  readonly #options: TransfersOptions;

  constructor(options: TransfersOptions) {
    this.#options = options;
  }

  /** @throws XoError TOO_MANY_REQUESTS, STORE_UNAVAILABLE: the audit log cannot be written */
  offerDownload(
    subject: TransferSubject & { readonly fileName: string },
    open: (work: TransferTask) => Promise<Source>,
  ): Promise<{ $getFrom: string }> {
    this.#options.audit?.check();
    const { fileName } = subject;
    return this.#options.paths.offerDownload(
      async (rest) => ({
        ...(await this.#download(subject, open, rest)),
        fileName,
      }),
      subject.context,
      fileName,
    );
  }

  /** @throws XoError TOO_MANY_REQUESTS, STORE_UNAVAILABLE: the audit log cannot be written */
  offerUpload(
    subject: TransferSubject,
    receive: (delivery: Delivery, work: TransferTask) => Promise<unknown>,
  ): Promise<{ $sendTo: string }> {
    this.#options.audit?.check();
    return this.#options.paths.offerUpload(
      (delivery) =>
        this.#upload(subject, this.#begin(subject), delivery, receive),
      subject.context,
    );
  }

  /**
   * Receives a file of another server now.
   * @returns the result of the operation
   * @throws XoError STORE_UNAVAILABLE: the audit log cannot be written; errors of `open` and `receive`
   */
  async receive(
    subject: TransferSubject,
    open: (signal: AbortSignal) => Promise<Delivery>,
    receive: (delivery: Delivery, work: TransferTask) => Promise<unknown>,
  ): Promise<unknown> {
    this.#options.audit?.check();
    const begun = this.#begin(subject);
    let delivery: Delivery;
    try {
      delivery = await open(begun.work.signal);
    } catch (error) {
      await begun.end({ bytes: 0, error: toReason(error as Error) });
      throw error;
    }
    return this.#upload(subject, begun, delivery, receive);
  }

  async #download(
    subject: TransferSubject,
    open: (work: TransferTask) => Promise<Source>,
    rest: Continuation | undefined,
  ): Promise<OpenDownload> {
    const { work, end } = this.#begin(subject);
    const checksum = subject.hasChecksum === true ? new Checksum() : undefined;
    try {
      const source = await open(work);
      const { type, body, length, finished, etag } = source;
      const from = firstByte(source, rest);
      // Sent with Content-Length: the client may disconnect after the last byte.
      const isSized = length !== undefined && checksum === undefined;
      const meter: Meter = this.#meter(subject, work, {
        length,
        checksum,
        skip: from,
        isSized,
        finished: async () => {
          checkWhole(meter.bytes, length);
          if (!isSized) await finished?.();
        },
      });
      const endDownload = async (interrupted: Error | undefined) => {
        const error =
          interrupted ?? (isSized ? await failureOf(finished) : undefined);
        body.destroy();
        await end({
          bytes: meter.bytes,
          ...(error ? { error: toReason(error) } : {}),
          ...(!error && checksum ? { sha256: checksum.digest() } : {}),
        });
      };
      drain(body, meter);
      onceFinished(meter, (error) => {
        void endDownload(error ?? undefined);
      });
      return {
        type,
        body: meter,
        ...(length === undefined ? {} : { length }),
        ...(etag === undefined ? {} : { etag }),
        ...(from === 0 ? {} : { from }),
        ...(checksum === undefined ? {} : { sha256: () => checksum.digest() }),
      };
    } catch (error) {
      await end({ bytes: 0, error: error as Error });
      throw error;
    }
  }

  async #upload(
    subject: TransferSubject,
    { work, end, whileHeld }: BegunTransfer,
    { body, length, sha256 }: Delivery,
    receive: (delivery: Delivery, work: TransferTask) => Promise<unknown>,
  ): Promise<unknown> {
    const checksum = sha256 === undefined ? undefined : new Checksum(sha256);
    const meter = this.#meter(subject, work, { length, checksum });
    // Readers get the error; this handler prevents an unhandled rejection while there is no reader.
    meter.on("error", () => undefined);
    feed(body, meter);
    try {
      const result = await whileHeld(receive({ body: meter, length }, work));
      await this.#options.caughtUp?.(subject.object.id);
      await end({ bytes: meter.bytes, result });
      meter.destroy();
      await dropRest(body);
      return result;
    } catch (error) {
      const reason = reasonOf(meter, error as Error);
      await end({ bytes: meter.bytes, error: reason });
      throw toFileRefusal(reason);
    } finally {
      meter.destroy();
    }
  }

  #meter(
    { name }: TransferSubject,
    work: TransferTask,
    { length, isSized = false, ...ending }: Ending,
  ): Meter {
    const { clock, idleMs = IDLE_MS } = this.#options;
    let reported = 0;
    return new Meter({
      ...ending,
      length: isSized ? length : undefined,
      clock,
      idleMs,
      what: name,
      onBytes(bytes) {
        if (length === undefined || bytes < reported + length / 100) return;
        reported = bytes;
        work.progress(Math.min(0.99, bytes / length));
      },
    });
  }

  #begin(subject: TransferSubject): BegunTransfer {
    const { tasks, audit } = this.#options;
    const { object, name, params, context, operation } = subject;
    const task = tasks?.prepare({
      name,
      params,
      operation,
      objectId: object.id,
      objectType: object.type,
      userId: context.user?.id,
    });
    const gone = new AbortController();
    const stop = () => {
      gone.abort();
    };
    task?.node.signal.addEventListener("abort", stop, { once: true });
    let settle: (outcome: Outcome) => void = () => undefined;
    const ended = new Promise<unknown>((resolve, reject) => {
      settle = ({ error, result, bytes, sha256 }) => {
        if (error !== undefined) reject(error);
        else resolve(result ?? { bytes, ...toHex(sha256) });
      };
    });
    // The task or the caller awaits it later; this handler prevents an unhandled rejection until then.
    ended.catch(() => undefined);
    let stored: Promise<unknown> = ended;
    if (task !== undefined) {
      stored = tasks!
        .follow(task, ended)
        .then(() => tasks!.outcomeOf(task, ended));
      // It is awaited later; this handler prevents an unhandled rejection until then.
      stored.catch(() => undefined);
      // After a crash of the server, the `resume` of the operation cleans up.
      // If that fails, `stored` rejects as well.
      task.node.persistState({}).catch(() => undefined);
    }
    return {
      work: {
        signal: gone.signal,
        progress: (fraction) => task?.node.progress(fraction),
        persistState: async (state) => {
          await Promise.race([task?.node.persistState(state), stored]);
        },
      },
      end: async (outcome) => {
        if (outcome.error !== undefined) gone.abort();
        settle(outcome);
        if ("result" in outcome) await stored;
        await audit?.write(toEntry(subject, outcome));
      },
      // Until `end` is called, it only rejects.
      whileHeld: (promise) => Promise.race([promise, stored as Promise<never>]),
    };
  }
}

function toEntry(
  { operation: name, object, params, context }: TransferSubject,
  { bytes, result, error, sha256 }: Outcome,
): Parameters<Audit["write"]>[0] {
  const { id, type: resource } = object;
  const permission = { action: "read", resource, id: () => id } as const;
  return {
    operation: { name, permission },
    params: { ...params, bytes, ...toHex(sha256) },
    context,
    outcome: error === undefined ? { result } : { error },
  };
}

function toHex(sha256: Buffer | undefined): { readonly sha256?: string } {
  return sha256 === undefined ? {} : { sha256: sha256.toString("hex") };
}

/** All bytes are sent if they may have changed, or if the offset is beyond the end. */
function firstByte(
  { length, etag }: Source,
  rest: Continuation | undefined,
): number {
  if (rest === undefined || etag === undefined || length === undefined)
    return 0;
  const isSame = rest.etag === undefined || rest.etag === etag;
  return isSame && rest.from < length ? rest.from : 0;
}

/** @returns the reason of a download that failed although all bytes were sent */
async function failureOf(
  finished: Source["finished"],
): Promise<Error | undefined> {
  try {
    await finished?.();
    return undefined;
  } catch (error) {
    // The outcome of the XAPI task is unknown, but the size was: all bytes were sent.
    const isLost = error instanceof XoError && error.code === "TASK_LOST";
    return isLost ? undefined : (error as Error);
  }
}

/** @throws XoError ABORTED */
function checkWhole(bytes: number, length: number | undefined): void {
  if (length !== undefined && bytes !== length)
    throw new XoError("ABORTED", {
      what: `after ${bytes} of ${length} bytes, the transfer`,
    });
}

/**
 * Why an upload has failed. A reader that refuses the body also closes its pipe, which is an error of
 * the body as well: of both, the refusal is the reason.
 */
function reasonOf({ errored }: Meter, error: Error): Error {
  return toReason(errored instanceof XoError ? errored : error);
}

/** A client that disconnects causes a premature-close error of the stream. */
function toReason(error: Error): Error {
  if (error instanceof XoError || error instanceof XapiError) return error;
  return new XoError("ABORTED", { what: "the transfer" }, error);
}
