import type { Agent } from "node:http";
import { RequestError, signedOut } from "../cli-error.js";
import { Rest } from "./rest.js";
import { Rpc } from "./rpc.js";
import { createAgent, type Trust } from "./trust.js";

/** A server and the credentials to use. */
export interface Target {
  /** With a trailing slash. */
  readonly url: string;
  /** undefined: anonymous. */
  readonly token: string | undefined;
  readonly trust: Trust;
}

/** JSON-RPC and REST clients of one server. */
export class Server {
  readonly target: Target;
  readonly rest: Rest;
  readonly #agent: Agent;
  readonly #open = new Set<Rpc>();

  constructor(target: Target) {
    this.target = target;
    this.#agent = createAgent(target.url, target.trust);
    const { url, token } = target;
    this.rest = new Rest({ url, token, agent: this.#agent });
  }

  /** A new connection, not signed in. */
  async connect(): Promise<Rpc> {
    const rpc = await Rpc.connect(this.target.url, this.#agent);
    this.#open.add(rpc);
    rpc.lost.catch(() => this.#open.delete(rpc));
    return rpc;
  }

  /** A new connection, signed in if there is a token. @throws CliError NOT_SIGNED_IN */
  async signIn(): Promise<Rpc> {
    const rpc = await this.connect();
    const { token, url } = this.target;
    if (token === undefined) return rpc;
    try {
      await rpc.call("session.signIn", { token });
    } catch (error) {
      if (
        !(error instanceof RequestError) ||
        error.code !== "CREDENTIALS_INVALID"
      )
        throw error;
      throw signedOut(
        `the token of ${url} is invalid or has expired`,
        `xo-cli register ${url}`,
      );
    }
    return rpc;
  }

  close(): void {
    for (const rpc of this.#open) rpc.close();
    this.#agent.destroy();
  }
}
