import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ServerFigures } from "./server-figures.js";

/** A program with the server's probe and an HTTP endpoint, in a process of its own: the lower bound of what the machine allows. */
export class ProbedChild {
  readonly url: string;
  readonly #child: ChildProcess;

  /**
   * @param program sends its parent the port that it listens on
   * @param job sent to it over the channel; absent: none
   */
  static async start(
    program: URL,
    { args = [], job }: { args?: readonly string[]; job?: object } = {},
  ): Promise<ProbedChild> {
    const child = fork(fileURLToPath(program), args, {
      execArgv: ["--expose-gc"],
    });
    process.on("exit", () => child.kill("SIGKILL"));
    if (job !== undefined) child.send(job);
    const [port] = (await once(child, "message")) as [number];
    return new ProbedChild(child, `http://127.0.0.1:${port}`);
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async begin(): Promise<void> {
    await this.#request("begin");
  }

  async end(): Promise<ServerFigures> {
    return (await this.#request("end")) as ServerFigures;
  }

  stop(): void {
    this.#child.kill();
  }

  async #request(what: string): Promise<unknown> {
    const answered = once(this.#child, "message");
    this.#child.send(what);
    const [answer] = (await answered) as [unknown];
    return answer;
  }
}
