import { X509Certificate } from "node:crypto";
import {
  createServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import { TLSSocket } from "node:tls";
import type { NbdAddress } from "../calls/core.js";
import { FaultyTransfer } from "../http/faulty-transfer.js";
import type { TlsIdentity } from "../listener.js";
import type { Membership } from "../membership.js";
import { refs } from "../records/fields.js";
import { DiskExport, type NbdParts } from "./disk-export.js";
import { NbdStream } from "./nbd-stream.js";
import { Negotiation, type NbdHost } from "./negotiation.js";
import { Transmission } from "./transmission.js";
import { makeIdentity } from "../self-signed.js";

/** The NBD servers of a pool's hosts; each is started at the first request. */
export class NbdServers {
  readonly #parts: NbdParts;
  readonly #membership: Membership;
  readonly #servers = new Map<string, Promise<Server>>();
  /** Open connections, by host. */
  readonly #sockets = new Map<string, Set<Socket>>();
  #identity: TlsIdentity | undefined;
  #stopped = false;

  /** @param options `tls`: the identity of the pool, if it has one */
  constructor(
    parts: NbdParts,
    options: {
      readonly membership: Membership;
      readonly tls: TlsIdentity | undefined;
    },
  ) {
    this.#parts = parts;
    this.#membership = options.membership;
    if (options.tls !== undefined) this.#identity = options.tls;
  }

  /** Address of the NBD server of a host: that of the coordinator if the host has no listener of its own. */
  async addressOf(hostRef: string): Promise<NbdAddress> {
    const [host, { listener }] = this.#membership.memberFor(hostRef);
    const address = listener.host;
    const server = await this.#serverOf(host, address);
    const { cert } = this.#tlsIdentity();
    const { port } = server.address() as AddressInfo;
    return { address, port, certificate: cert, subject: subjectOf(cert) };
  }

  /** Breaks the connections to a host. */
  disconnect(hostRef: string): void {
    for (const socket of this.#sockets.get(hostRef) ?? []) socket.destroy();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const servers = await Promise.all(this.#servers.values());
    this.#servers.clear();
    const closed = servers.map(
      (server) => new Promise((resolve) => server.close(resolve)),
    );
    for (const host of this.#sockets.keys()) this.disconnect(host);
    await Promise.all(closed);
  }

  #tlsIdentity(): TlsIdentity {
    this.#identity ??= makeIdentity();
    return this.#identity;
  }

  #serverOf(hostRef: string, address: string): Promise<Server> {
    let server = this.#servers.get(hostRef);
    if (server === undefined) {
      server = this.#listen(hostRef, address);
      this.#servers.set(hostRef, server);
      server.catch(() => this.#servers.delete(hostRef));
    }
    return server;
  }

  async #listen(hostRef: string, address: string): Promise<Server> {
    if (this.#stopped) throw new Error("the pool has stopped");
    const sockets = new Set<Socket>();
    this.#sockets.set(hostRef, sockets);
    const server = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", () => socket.destroy());
      this.#serve(hostRef, socket)
        // The client has gone, or a fault has ended it.
        .catch(() => undefined)
        .finally(() => socket.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, address, () => {
        server.off("error", reject);
        resolve();
      });
    });
    return server;
  }

  async #serve(hostRef: string, socket: Socket): Promise<void> {
    const { faults, clock } = this.#parts;
    const purposes = [...this.#parts.db.records("network")].flatMap(
      ([, network]) => refs(network, "purpose"),
    );
    const isOpen =
      purposes.includes("nbd") || purposes.includes("insecure_nbd");
    const isDropped = faults.takeNamed("drop", "nbd") !== undefined;
    if (!isOpen || isDropped || this.#membership.isUnreachable(hostRef)) return;
    const host: NbdHost = {
      faults,
      requiresTls: purposes.includes("nbd"),
      secure: (stream) => this.#secure(stream),
      open: (name) => DiskExport.open(this.#parts, hostRef, name),
      check: (name) => DiskExport.check(this.#parts, name),
    };
    const agreement = await new Negotiation(host, new NbdStream(socket)).run();
    if (agreement === undefined) {
      socket.end();
      return;
    }
    const closed = new AbortController();
    socket.on("close", () => closed.abort());
    const transfer = new FaultyTransfer(
      {
        clock,
        faults,
        isSilent: () =>
          faults.isOn("silent") && this.#membership.isSilenced(hostRef),
        closed: closed.signal,
        cut: () => agreement.stream.socket.destroySoon(),
        sendError: () => undefined,
      },
      "nbd",
    );
    try {
      await new Transmission(agreement, { faults, clock, transfer }).run();
    } finally {
      agreement.disk.close();
    }
  }

  async #secure(stream: NbdStream): Promise<NbdStream> {
    const { key, cert } = this.#tlsIdentity();
    const socket = await stream.release();
    const secured = new TLSSocket(socket, { isServer: true, key, cert });
    secured.on("error", () => socket.destroy());
    secured.on("close", () => socket.destroy());
    return new NbdStream(secured);
  }
}

/** The first name of a host, or the common name. */
function subjectOf(certificate: string): string {
  const { subjectAltName = "", subject } = new X509Certificate(certificate);
  const name = /DNS:([^,]+)/.exec(subjectAltName) ?? /CN=(.+)/.exec(subject);
  return name?.[1]?.trim() ?? "";
}
