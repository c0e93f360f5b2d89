import { applyMergePatch, isObject, type Json } from "@xo-server/kit";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Test } from "tap";
import { WebSocket } from "ws";

export interface PoolStatus {
  readonly warnings?: readonly {
    readonly code: string;
    readonly data: Readonly<Record<string, string>>;
  }[];
  readonly state: string;
  readonly objects: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly error?: { readonly code: string; readonly message: string } | null;
  readonly transport?: string | null;
  readonly via?: string | null;
  readonly staleSince?: string | null;
  readonly loadMs?: number | null;
  readonly lastChangeAt?: string | null;
  readonly address: string;
  readonly changesPerSecond: number;
}

export interface Status {
  readonly server: { readonly demo: boolean };
  readonly pools: Readonly<Record<string, PoolStatus>>;
  readonly totals: { readonly objects: number };
}

export interface Message {
  readonly id?: number;
  readonly params?: {
    readonly revision: number;
    readonly base?: number;
    readonly patch?: Json;
    readonly status?: Json;
  };
  readonly result?: { readonly revision: number; readonly status: Json };
}

/** Follows the status as a page does: signs in, then a snapshot and patches. */
export class StatusPage {
  readonly #socket: WebSocket;
  #status: Json = null;
  #revision = -1;
  #gaps = 0;

  /** @param password of `admin`; absent: anonymously, as the demo allows */
  static async open(
    t: Test,
    url: string,
    password?: string,
  ): Promise<StatusPage> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/`);
    t.teardown(() => {
      socket.terminate();
    });
    await once(socket, "open");
    if (password !== undefined) await signIn(socket, password);
    const page = new StatusPage(socket);
    socket.send('{"jsonrpc":"2.0","id":0,"method":"status.subscribe"}');
    await page.until(() => true);
    return page;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      this.#take(JSON.parse(data.toString()) as Message);
    });
  }

  close(): void {
    this.#socket.terminate();
  }

  /** Resolves with the status as soon as it is as expected. */
  async until(
    isWanted: (status: Status) => boolean | Promise<boolean>,
  ): Promise<Status> {
    for (;;) {
      if (this.#status !== null) {
        const status = this.#status as unknown as Status;
        if (await isWanted(status)) return status;
      }
      await Promise.race([once(this.#socket, "message"), pause(250)]);
    }
  }

  /** The status as followed and, of the same revision, as a new subscription receives it. */
  async compare(): Promise<{ followed: Json; subscribed: Json }> {
    if (this.#gaps > 0) throw new Error(`${this.#gaps} gaps`);
    const answer = once(this.#socket, "message") as Promise<[Buffer]>;
    this.#socket.send('{"jsonrpc":"2.0","id":1,"method":"status.subscribe"}');
    const before = this.#status;
    const revision = this.#revision;
    const { result } = JSON.parse(String((await answer)[0])) as Message;
    return result?.revision === revision
      ? {
          followed: withoutNulls(before),
          subscribed: withoutNulls(result.status),
        }
      : this.compare();
  }

  #take({ id, params, result }: Message): void {
    if (id === 0) {
      if (result?.status === undefined)
        throw new Error(`status.subscribe: ${JSON.stringify(result)}`);
      this.#status = result.status;
      this.#revision = result.revision;
    }
    // Notifications of other kinds, such as those of a server that stops or is busy, contain no status.
    if (params?.patch === undefined && params?.status === undefined) return;
    if (params.patch === undefined) this.#status = params.status!;
    else if (params.base === this.#revision)
      this.#status = applyMergePatch(this.#status, params.patch);
    else this.#gaps++;
    this.#revision = params.revision;
  }
}

async function signIn(socket: WebSocket, password: string): Promise<void> {
  const params = { username: "admin", password };
  const answered = once(socket, "message") as Promise<[Buffer]>;
  socket.send(
    JSON.stringify({ jsonrpc: "2.0", id: 0, method: "session.signIn", params }),
  );
  const answer = String((await answered)[0]);
  if (!answer.includes('"result"')) throw new Error(answer);
}

/** A merge patch cannot distinguish null from an absent member. */
function withoutNulls(value: Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(([key, inner]) => [key, withoutNulls(inner)]),
  );
}
