import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface LiveClientsJob {
  /** Of the server. */
  readonly url: string;
  readonly token: string;
  readonly clients: number;
}

/** How late changes were, in ms; and how many messages came. */
export interface Delays {
  readonly messages: number;
  readonly changes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Many connections that receive changes, in a process of their own. */
export class LiveClients {
  readonly #child: ChildProcess;

  /** Resolves when all of them have signed in and receive changes. */
  static async open(job: LiveClientsJob): Promise<LiveClients> {
    const program = new URL("programs/live-clients.js", import.meta.url);
    const child = fork(fileURLToPath(program));
    process.on("exit", () => child.kill("SIGKILL"));
    const open = once(child, "message");
    child.send(job);
    await open;
    return new LiveClients(child);
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Delays since the last time. */
  async delays(): Promise<Delays> {
    const answered = once(this.#child, "message");
    this.#child.send("delays");
    const [answer] = (await answered) as [Delays];
    return answer;
  }

  close(): void {
    this.#child.kill();
  }
}
