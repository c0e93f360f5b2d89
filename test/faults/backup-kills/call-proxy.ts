import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import type { ProgramOwner } from "../../running-program.js";

/** Where in a call something happens: before the pool gets it, after that, or before the server gets the response. */
export const positions = ["before", "after", "response"] as const;
export type Position = (typeof positions)[number];

interface Trigger {
  /** Number of requests until then. */
  readonly at: number;
  readonly position: Position;
  /** Whether the request or the response is not passed on. */
  readonly isLost: boolean;
  readonly fire: () => void;
}

/** Passes the calls of a server on to the members of a pool, counts them, and does something at one of them. */
export class CallProxy {
  #count = 0;
  #trigger: Trigger | undefined;
  #port = 0;
  readonly #servers: Server[] = [];

  /** @param urls of the members; they have the same port at different addresses */
  static async start(
    owner: ProgramOwner,
    urls: readonly string[],
  ): Promise<CallProxy> {
    const proxy = new CallProxy();
    owner.teardown(() => {
      for (const server of proxy.#servers) server.close();
      return Promise.resolve();
    });
    for (const url of urls) await proxy.#listen(new URL(url));
    return proxy;
  }

  /** Of the first member. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Requests since the last call of `arm`. */
  get count(): number {
    return this.#count;
  }

  /** Begins to count. */
  arm(trigger?: Trigger): void {
    this.#count = 0;
    this.#trigger = trigger;
  }

  async #listen({ hostname, port }: URL): Promise<void> {
    const server = createServer((client) => {
      const pool = connect(Number(port), hostname);
      let awaited: Trigger | undefined;
      client.on("data", (chunk: Buffer) => {
        const trigger = this.#next();
        if (trigger?.position === "before") trigger.fire();
        if (trigger?.position === "before" && trigger.isLost) return;
        pool.write(chunk);
        if (trigger?.position === "after") trigger.fire();
        if (trigger?.position === "response") awaited = trigger;
      });
      pool.on("data", (chunk: Buffer) => {
        const trigger = awaited;
        awaited = undefined;
        trigger?.fire();
        if (trigger?.isLost !== true) client.write(chunk);
      });
      client.on("end", () => pool.end());
      pool.on("end", () => client.end());
      client.on("error", () => pool.destroy());
      pool.on("error", () => client.destroy());
      client.on("close", () => pool.destroy());
      pool.on("close", () => client.destroy());
    });
    this.#servers.push(server);
    server.listen(this.#port, hostname);
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
  }

  #next(): Trigger | undefined {
    this.#count++;
    if (this.#trigger?.at !== this.#count) return undefined;
    const trigger = this.#trigger;
    this.#trigger = undefined;
    return trigger;
  }
}
