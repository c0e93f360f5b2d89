import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** A connection, or what another server passes on. */
export type MemberSocket = Duplex & Pick<Socket, "bytesRead" | "bytesWritten">;

/** A connection to a member of a pool through something else than the network, such as another server. */
export interface IndirectConnection {
  /** Passes bytes to the member and back, unchanged: TLS ends at the member. Fails if it ends before the member has ended it. */
  readonly socket: MemberSocket;
  /** Name of what it goes through. */
  readonly via: string;
}

/** The way to the members of a pool for clients that cannot reach them directly. */
export interface IndirectRoute {
  /** Whether there is anything through which a member could be reached now. */
  readonly isAvailable: boolean;
  /**
   * @param member URL of the member, as in XapiOptions.hosts
   * @throws Error the member cannot be reached like this
   */
  connect(member: string, signal: AbortSignal): Promise<IndirectConnection>;
  /**
   * For other processes on this machine.
   * @param member also the URL of an NBD server: one socket for each server, whatever the disk
   * @returns path of a Unix socket: each connection to it, as a FramedStream, is one to the member
   * @throws Error it cannot be created
   */
  listen(member: string): Promise<string>;
}
