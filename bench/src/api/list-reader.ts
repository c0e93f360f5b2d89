import { get } from "node:http";
import type { MeasuredServer } from "./measured-server.js";
import { maskedFrame, RawSocket } from "./raw-socket.js";
import type { ServerFigures } from "./server-figures.js";

export interface ListFigures extends ServerFigures {
  readonly bytes: number;
  /** Until the first and the last byte, in ms. */
  readonly firstMs: number;
  readonly totalMs: number;
}

/** Reads lists at the speed of the server, and measures its work for each. */
export class ListReader {
  readonly #server: MeasuredServer;
  readonly #token: string;
  readonly #socket: RawSocket;

  static async open(
    server: MeasuredServer,
    token: string,
  ): Promise<ListReader> {
    const socket = await RawSocket.open(server.url, "/api/");
    socket.write(maskedFrame(request("session.signIn", { token })));
    await socket.until(1);
    // Notifications would count as ends of a list.
    await socket.exchange(request("all.unsubscribe", {}));
    return new ListReader(server, token, socket);
  }

  private constructor(
    server: MeasuredServer,
    token: string,
    socket: RawSocket,
  ) {
    this.#server = server;
    this.#token = token;
    this.#socket = socket;
  }

  /** xo.getAllObjects. */
  async all(): Promise<ListFigures> {
    const { counter } = this.#socket;
    const before = counter.payloadBytes;
    await this.#server.begin();
    const times = await this.#socket.exchange(request("xo.getAllObjects", {}));
    const figures = await this.#server.end();
    return { ...times, ...figures, bytes: counter.payloadBytes - before };
  }

  /** GET /rest/v0/vms with all fields. */
  async vms(): Promise<ListFigures> {
    await this.#server.begin();
    const times = await this.#fetch("/rest/v0/vms?fields=*");
    return { ...times, ...(await this.#server.end()) };
  }

  close(): void {
    this.#socket.close();
  }

  #fetch(
    path: string,
  ): Promise<Pick<ListFigures, "bytes" | "firstMs" | "totalMs">> {
    return new Promise((resolve, reject) => {
      const start = performance.now();
      const headers = { cookie: `authenticationToken=${this.#token}` };
      get(`${this.#server.url}${path}`, { headers }, (answer) => {
        let bytes = 0;
        let firstMs = 0;
        answer.on("data", (chunk: Buffer) => {
          firstMs ||= performance.now() - start;
          bytes += chunk.length;
        });
        answer.on("error", reject);
        answer.on("end", () => {
          const totalMs = performance.now() - start;
          if (answer.statusCode === 200) resolve({ bytes, firstMs, totalMs });
          else reject(new Error(`${path}: status ${answer.statusCode}`));
        });
      }).on("error", reject);
    });
  }
}

function request(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 0, method, params });
}
