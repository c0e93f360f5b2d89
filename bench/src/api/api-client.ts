import { once } from "node:events";
import { WebSocket } from "ws";

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** An ordinary client of the API, for what is not measured. */
export class ApiClient {
  readonly socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  /** @param token of the user; absent: anonymous */
  static async open(url: string, token?: string): Promise<ApiClient> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/`, {
      perMessageDeflate: false,
      maxPayload: 1 << 30,
    });
    await once(socket, "open");
    const client = new ApiClient(socket);
    if (token !== undefined) await client.call("session.signIn", { token });
    return client;
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      if (this.#waiting.size === 0) return;
      const answer = JSON.parse((data as Buffer).toString()) as Answer;
      this.#waiting.get(answer.id ?? 0)?.(answer);
    });
  }

  /** @throws Error for an error that is answered */
  async call(method: string, params: object): Promise<unknown> {
    const id = ++this.#lastId;
    const answered = new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
    });
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const { result, error } = await answered;
    this.#waiting.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  close(): void {
    this.socket.terminate();
  }
}
