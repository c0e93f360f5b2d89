import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface ClientSwarmJob {
  /** Of the server. */
  readonly url: string;
  readonly token: string;
  readonly sockets: number;
}

/** How many changes its sockets received since the last time, and how late. */
interface Received {
  readonly received: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** A process with very many connections. */
export class ClientSwarm {
  readonly #child: ChildProcess;

  /** Resolves when all have signed in and receive changes. */
  static async open(job: ClientSwarmJob): Promise<ClientSwarm> {
    const program = new URL("programs/client-swarm.js", import.meta.url);
    const child = fork(fileURLToPath(program));
    process.on("exit", () => child.kill("SIGKILL"));
    const open = once(child, "message");
    child.send(job);
    await open;
    return new ClientSwarm(child);
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  async received(): Promise<Received> {
    const answered = once(this.#child, "message");
    this.#child.send("received");
    const [answer] = (await answered) as [Received];
    return answer;
  }

  close(): void {
    this.#child.kill();
  }
}
