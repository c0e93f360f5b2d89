import type { Duplex } from "node:stream";
import type { IndirectConnection } from "@xo-server/xen-api";

type MemberSocket = IndirectConnection["socket"];

/** Passes bytes between a member of a pool and another server, with back-pressure. */
export class Tunnel {
  readonly #member: MemberSocket;
  readonly #client: Duplex;
  /** At the last check. */
  #checkedBytes = 0;
  /** Called once, when both connections are closed or closing. */
  onClose: (() => void) | undefined;

  /**
   * @param member no byte has been read
   * @param client of the other server, after the answer
   */
  constructor(member: MemberSocket, client: Duplex) {
    this.#member = member;
    this.#client = client;
    this.#closeAfter(member, client);
    this.#closeAfter(client, member);
    // The end of one direction is passed on: it ends uploads of unknown length.
    member.pipe(client);
    client.pipe(member);
    if (member.destroyed || client.destroyed) this.close();
  }

  /** In both directions. */
  get bytes(): number {
    return this.#member.bytesRead + this.#member.bytesWritten;
  }

  closeIfIdle(): void {
    if (this.bytes === this.#checkedBytes) this.close();
    this.#checkedBytes = this.bytes;
  }

  close(): void {
    this.#member.destroy();
    this.#client.destroy();
    const { onClose } = this;
    this.onClose = undefined;
    onClose?.();
  }

  #closeAfter(socket: Duplex, other: Duplex): void {
    // Each error is followed by `close`.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      // What was received before a proper end is passed on first.
      const isPassing = socket.readableEnded && !other.writableFinished;
      if (!isPassing || other.destroyed) this.close();
      else other.once("finish", () => this.close());
    });
  }
}
