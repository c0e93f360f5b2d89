import { applyMergePatch } from "@xo-server/kit";
import { once } from "node:events";
import {
  addDigest,
  canonicalJson,
  digestOf,
  digestToText,
  EMPTY_DIGEST,
} from "@xo-server/inventory";
import type { Test } from "tap";
import { WebSocket } from "ws";

type Row = Record<string, unknown>;

interface Update {
  readonly name?: string;
  readonly reset?: boolean;
  readonly revision: number;
  readonly total: number;
  readonly splice?: { at: number; remove: number; insert: string[] };
  readonly objects: Record<string, Row>;
  readonly patches: Record<string, Row>;
  readonly digest: string;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Update;
  readonly result?: unknown;
  readonly error?: { readonly code: number };
}

/** A client that keeps a copy of one live query, as a list on a page does. */
export class FollowedQuery {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (message: Message) => void>();
  readonly #objects = new Map<string, Row>();
  #ids: string[] = [];
  #lastId = 0;
  /** Notifications that were taken. */
  updates = 0;
  patches = 0;
  /** As in the last update. */
  total = 0;
  digest = "";
  revision = 0;
  /** Resolves with the close code. */
  readonly closed: Promise<number>;

  static async connect(t: Test, url: string): Promise<FollowedQuery> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/`);
    t.teardown(() => {
      socket.terminate();
    });
    await once(socket, "open");
    return new FollowedQuery(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    // A close follows.
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message;
      if (message.id !== undefined) this.#answers.get(message.id)!(message);
      else if (message.method === "query") {
        this.updates++;
        this.#take(message.params!);
      }
    });
  }

  /** @param onAnswer called before later messages are taken */
  async call(
    method: string,
    params: object,
    onAnswer?: (answer: Message) => void,
  ): Promise<Message> {
    const id = ++this.#lastId;
    const answer = new Promise<Message>((resolve) =>
      this.#answers.set(id, (message) => {
        onAnswer?.(message);
        resolve(message);
      }),
    );
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const closed = this.closed.then((code): Message => {
      throw new Error(`closed with ${code}`);
    });
    return Promise.race([answer, closed]);
  }

  async open(request: object): Promise<void> {
    // Taken as the answer arrives: an update can follow in the same packet.
    await this.call("query.open", request, ({ result }) =>
      this.#take(result as Update),
    );
  }

  close(): void {
    this.#socket.close();
  }

  /** After one more message at least. */
  async until(isWanted: () => boolean): Promise<void> {
    while (!isWanted()) await once(this.#socket, "message");
  }

  get rows(): readonly Row[] {
    return this.#ids.map((id) => this.#objects.get(id)!);
  }

  /** Computed from the copy. */
  get ownDigest(): string {
    return digestToText(
      this.rows.reduce(
        (sum, row) =>
          addDigest(sum, digestOf(Buffer.from(canonicalJson(row as never)))),
        EMPTY_DIGEST,
      ),
    );
  }

  #take(update: Update): void {
    if (update.revision < this.revision)
      throw new Error(`revision ${update.revision} after ${this.revision}`);
    this.revision = update.revision;
    if (update.reset === true) this.#ids = [];
    const { at, remove, insert } = update.splice ?? {
      at: 0,
      remove: 0,
      insert: [],
    };
    this.#ids.splice(at, remove, ...insert);
    for (const [id, row] of Object.entries(update.objects))
      this.#objects.set(id, row);
    for (const [id, patch] of Object.entries(update.patches)) {
      this.patches++;
      const row = applyMergePatch(this.#objects.get(id), patch);
      this.#objects.set(id, row as Row);
    }
    this.total = update.total;
    this.digest = update.digest;
  }
}
