import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Passes bytes between a member of a pool and another server, with back-pressure. */
export class Tunnel {
  readonly #member: Socket;
  readonly #client: Duplex;
  /** At the last check. */
  #checkedBytes = 0;
  /** Called once, when both connections are closed or closing. */
  onClose: (() => void) | undefined;

  /**
   * @param member no byte has been read
   * @param client of the other server, after the answer
   * @param head bytes that it has sent already
   */
  constructor(member: Socket, client: Duplex, head: Buffer) {
    this.#member = member;
    this.#client = client;
    for (const socket of [member, client]) {
      // Each error is followed by `close`.
      socket.on("error", () => undefined);
      socket.once("close", () => {
        this.close();
      });
    }
    if (head.length > 0) member.write(head);
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
}
