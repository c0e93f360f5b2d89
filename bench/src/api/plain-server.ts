import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ServerFigures } from "./server-figures.js";

/** The `ws` package with nothing around it, in a process of its own: what the ground allows. */
export class PlainServer {
  readonly url: string;
  readonly #child: ChildProcess;

  /** @param file what it sends to who asks at `/file` */
  static async start(file = ""): Promise<PlainServer> {
    const program = new URL("programs/plain-server.js", import.meta.url);
    const child = fork(fileURLToPath(program), [file], {
      execArgv: ["--expose-gc"],
    });
    process.on("exit", () => child.kill("SIGKILL"));
    const [port] = (await once(child, "message")) as [number];
    return new PlainServer(child, `http://127.0.0.1:${port}`);
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  async begin(): Promise<void> {
    await this.#ask("begin");
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
