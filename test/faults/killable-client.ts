import { WebSocket } from "ws";

/** The API of a server, for a signed-in user. */
export class KillableClient {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  /** Resolves when it is connected, and never if it cannot be. */
  readonly opened: Promise<void>;
  #lastId = 0;

  constructor(host: string) {
    this.#socket = new WebSocket(`ws://${host}/api/`);
    this.opened = new Promise((resolve) => this.#socket.once("open", resolve));
    this.#socket.on("error", () => undefined);
    this.#socket.on("message", (data: Buffer) => {
      const answer = JSON.parse(data.toString()) as Answer;
      if (answer.id === undefined) return;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    this.#socket.on("close", () => {
      for (const give of this.#waiting.values()) give({ isGone: true });
    });
  }

  async signIn(password: string): Promise<void> {
    await this.opened;
    const credentials = { username: "admin", password };
    await this.request("session.signIn", credentials);
  }

  /** @throws if the token is not valid */
  async signInByToken(token: string): Promise<void> {
    await this.opened;
    await this.request("session.signIn", { token });
  }

  /** Undefined: the server ended before it reported the end. @throws what it refuses */
  async request(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId;
    const answer = await new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
      if (this.#socket.readyState !== WebSocket.OPEN) resolve({ isGone: true });
      else
        this.#socket.send(
          JSON.stringify({ jsonrpc: "2.0", id, method, params }),
        );
    });
    if (answer.error !== undefined)
      throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.isGone === true ? undefined : answer.result;
  }

  /** Closes the connection with a handshake. */
  close(): void {
    this.#socket.close();
  }

  /** Breaks the connection. */
  terminate(): void {
    this.#socket.terminate();
  }
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly isGone?: boolean;
}
