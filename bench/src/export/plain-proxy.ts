import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ServerFigures } from "../api/server-figures.js";

/** Node's own http in both directions with nothing between, in a process of its own: what the ground allows. */
export class PlainProxy {
  readonly url: string;
  readonly #child: ChildProcess;

  /** @param source what it fetches for whoever asks */
  static async start(source: string): Promise<PlainProxy> {
    const program = new URL("programs/plain-proxy.js", import.meta.url);
    const child = fork(fileURLToPath(program), [], {
      execArgv: ["--expose-gc"],
    });
    process.on("exit", () => child.kill("SIGKILL"));
    child.send({ source });
    const [port] = (await once(child, "message")) as [number];
    return new PlainProxy(child, `http://127.0.0.1:${port}`);
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  begin(): Promise<unknown> {
    return this.#ask("begin");
  }

  async end(): Promise<ServerFigures> {
    return (await this.#ask("end")) as ServerFigures;
  }

  stop(): void {
    this.#child.kill();
  }

  async #ask(what: string): Promise<unknown> {
    const answered = once(this.#child, "message");
    this.#child.send(what);
    const [answer] = (await answered) as [unknown];
    return answer;
  }
}
