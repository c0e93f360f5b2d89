import type { Test } from "tap";
import { FollowedQuery } from "../followed-query.js";
import { PASSWORD } from "./server-group.js";

const FIELDS = ["id", "name_label", "power_state"];

/**
 * A client behind a load balancer that follows all VMs, as a page does: it has the
 * cookie of its token, and its WebSocket is signed in by a ticket. After each
 * connection that was closed it opens another one.
 */
export class BalancedClient {
  readonly #url: string;
  readonly cookie: string;
  query: FollowedQuery | undefined;
  connections = 0;

  private constructor(url: string, cookie: string) {
    this.#url = url;
    this.cookie = cookie;
  }

  static async signIn(url: string): Promise<BalancedClient> {
    const login = await fetch(`${url}/rest/v0/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "admin", password: PASSWORD }),
    });
    if (!login.ok)
      throw new Error(`sign-in: HTTP ${login.status} ${await login.text()}`);
    const [token] = login.headers
      .getSetCookie()
      .filter((cookie) => cookie.startsWith("authenticationToken="));
    return new BalancedClient(url, token!.split(";")[0]!);
  }

  /** The same user at another server. */
  at(url: string): BalancedClient {
    return new BalancedClient(url, this.cookie);
  }

  /** A request with the token, and without the cookie of the load balancer. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("cookie", this.cookie);
    return fetch(this.#url + path, { ...init, headers });
  }

  /** One attempt; the load balancer may choose a server that has just ended. */
  async connect(t: Test): Promise<void> {
    const query = await FollowedQuery.connect(t, this.#url);
    const answer = await this.fetch("/rest/v0/session/ticket", {
      method: "POST",
    });
    const { ticket } = (await answer.json()) as { ticket: string };
    const signedIn = await query.call("session.signInWithTicket", { ticket });
    if (signedIn.error !== undefined) throw new Error("the ticket was refused");
    const rows = { sort: [{ by: "id" }], offset: 0, limit: 1_000 };
    await query.open({ name: "vms", type: "VM", fields: FIELDS, ...rows });
    this.query = query;
    this.connections++;
  }

  /** Runs until the signal is aborted. */
  async stayConnected(t: Test, { signal }: AbortController): Promise<void> {
    while (!signal.aborted) {
      await this.connect(t).catch(() => undefined);
      await this.query?.closed;
      this.query = undefined;
    }
  }
}
