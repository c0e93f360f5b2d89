import { Writable } from "node:stream";
import type { Socket } from "node:net";
import type { TaskContext } from "../operation.js";
import { XapiFailure } from "../xapi-failure.js";
import { writeOne } from "./body-writer.js";
import type { FaultyTransfer } from "./faulty-transfer.js";

/**
 * The body of a response that ends with the connection. Its end waits until all has been
 * handed to the socket; it fails when the client disconnects or the task is cancelled.
 */
export class TransferStream extends Writable {
  readonly #socket: Socket;
  readonly #transfer: FaultyTransfer;
  readonly #release: () => void;

  constructor(
    socket: Socket,
    transfer: FaultyTransfer,
    task: Pick<TaskContext, "ref" | "signal"> | undefined,
  ) {
    super();
    this.#socket = socket;
    this.#transfer = transfer;
    const onClose = (): void => {
      this.destroy(new Error("the client closed the connection"));
    };
    const onAbort = (): void => {
      this.destroy(new XapiFailure("TASK_CANCELLED", [task?.ref ?? ""]));
      socket.destroy();
    };
    socket.on("close", onClose);
    task?.signal.addEventListener("abort", onAbort);
    this.#release = () => {
      socket.off("close", onClose);
      task?.signal.removeEventListener("abort", onAbort);
    };
    // The callback of the write reports it to the writer.
    this.on("error", () => undefined);
  }

  override _write(
    chunk: Buffer,
    _: BufferEncoding,
    done: (error?: Error) => void,
  ): void {
    this.#pass(chunk).then(() => done(), done);
  }

  override _final(done: (error?: Error) => void): void {
    this.#transfer.end().then(() => {
      this.#release();
      this.#socket.end();
      done();
    }, done);
  }

  override _destroy(
    error: Error | null,
    done: (error: Error | null) => void,
  ): void {
    this.#release();
    // Closes the socket after what was written before has been sent.
    if (error !== null) this.#socket.destroySoon();
    done(error);
  }

  async #pass(chunk: Buffer): Promise<void> {
    for await (const bytes of this.#transfer.pass(chunk))
      if (!(await writeOne(this.#socket, bytes)))
        throw new Error("the client closed the connection");
  }
}
