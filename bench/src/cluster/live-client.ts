import { ApiClient } from "../api/api-client.js";
import { ADMIN_PASSWORD } from "./server-group.js";

interface Update {
  readonly objects: Record<string, { name_label?: string }>;
  readonly patches: Record<string, { name_label?: string }>;
}

/** A client with a live query of all VMs; when its server ends it opens it at another one. */
export class LiveClient {
  readonly #urls: readonly string[];
  readonly #names = new Map<string, string>();
  #api: ApiClient | undefined;
  #connections = 0;
  #isClosed = false;

  /** @param urls the servers, the one to begin with first */
  static async open(urls: readonly string[]): Promise<LiveClient> {
    const client = new LiveClient(urls);
    await client.#connect(0);
    return client;
  }

  private constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  /** Connections on which it has received all rows. */
  get connections(): number {
    return this.#connections;
  }

  /** The name of a VM as the client has received it. */
  nameOf(id: string): string | undefined {
    return this.#names.get(id);
  }

  get ids(): readonly string[] {
    return [...this.#names.keys()];
  }

  /** @throws Error for an error that is answered */
  async call(method: string, params: object): Promise<unknown> {
    return this.#api!.call(method, params);
  }

  close(): void {
    this.#isClosed = true;
    this.#api?.close();
  }

  /** @param attempt the number of servers that were tried before */
  async #connect(attempt: number): Promise<void> {
    const url = this.#urls[attempt % this.#urls.length]!;
    const api = await ApiClient.open(url);
    api.socket.on("message", (data) => {
      const { method, params } = JSON.parse((data as Buffer).toString()) as {
        readonly method?: string;
        readonly params?: Update;
      };
      if (method === "query") this.#take(params!);
    });
    const user = { username: "admin", password: ADMIN_PASSWORD };
    await api.call("session.signIn", user);
    const query = { name: "all", type: "VM", fields: ["id", "name_label"] };
    const rows = { sort: [{ by: "id" }], offset: 0, limit: 1_000 };
    this.#take((await api.call("query.open", { ...query, ...rows })) as Update);
    this.#api = api;
    this.#connections++;
    api.socket.once("close", () => {
      this.#api = undefined;
      this.#reconnect(attempt + 1);
    });
  }

  #reconnect(attempt: number): void {
    if (this.#isClosed) return;
    this.#connect(attempt).catch(() => {
      this.#reconnect(attempt + 1);
    });
  }

  #take({ objects, patches }: Update): void {
    for (const rows of [objects, patches])
      for (const [id, { name_label: name }] of Object.entries(rows))
        if (name !== undefined) this.#names.set(id, name);
  }
}
