import { connect } from "node:net";

/**
 * Sends bytes as they are and collects what comes back: until the connection
 * ends, or until a whole answer with content-length is there and `answers` of
 * them came.
 */
export function exchange(
  url: string,
  request: Buffer | string,
  answers = 1,
): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    const chunks: Buffer[] = [];
    const finish = (): void => {
      socket.destroy();
      resolve(Buffer.concat(chunks));
    };
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (isWhole(Buffer.concat(chunks), answers)) finish();
    });
    socket.on("end", finish);
    socket.on("error", reject);
  });
}

function isWhole(bytes: Buffer, answers: number): boolean {
  let at = 0;
  for (let i = 0; i < answers; i++) {
    const blank = bytes.indexOf("\r\n\r\n", at);
    if (blank < 0) return false;
    const head = bytes.subarray(at, blank).toString("latin1");
    const length = /content-length: (\d+)/i.exec(head);
    if (length === null) return false;
    at = blank + 4 + Number(length[1]);
  }
  return bytes.length >= at;
}

/** A client of the simplest kind: JSON-RPC 2.0, one connection a call. */
export class TestClient {
  readonly #url: string;
  readonly #headers: string;
  session = "";

  constructor(url: string, headers = "") {
    this.#url = url;
    this.#headers = headers;
  }

  async logIn(
    user = "root",
    password = "password",
    originator = "test",
  ): Promise<this> {
    this.session = (await this.send("session.login_with_password", [
      user,
      password,
      "1.0",
      originator,
    ])) as string;
    return this;
  }

  call(method: string, ...params: unknown[]): Promise<unknown> {
    return this.send(method, [this.session, ...params]);
  }

  /** @throws Error with XAPI's code and parameters, joined by spaces */
  async send(method: string, params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: "2.0", method, params, id: 0 });
    const answer = await exchange(
      this.#url,
      `POST /jsonrpc HTTP/1.1\r\n${this.#headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const text = answer.subarray(answer.indexOf("\r\n\r\n") + 4).toString();
    const message = JSON.parse(text) as {
      result?: unknown;
      error?: { message: string; data: string[] } | string[];
    };
    const { error } = message;
    if (error === undefined) return message.result;
    throw new Error(
      (Array.isArray(error) ? error : [error.message, ...error.data]).join(" "),
    );
  }
}
