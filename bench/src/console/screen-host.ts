import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { PoolAddress } from "../harness/simulator.js";

/**
 * A host in front of a simulated pool, in a process of its own: calls are
 * forwarded to the simulator, consoles are its own. Its pictures are prepared
 * and it answers a key immediately, so that the transport is measured and not
 * the drawing.
 */
export class ScreenHost {
  readonly pool: PoolAddress;
  readonly #child: ChildProcess;

  static async start(pool: PoolAddress): Promise<ScreenHost> {
    const program = new URL("programs/screen-host.js", import.meta.url);
    const child = fork(fileURLToPath(program));
    process.on("exit", () => child.kill("SIGKILL"));
    const listening = once(child, "message");
    child.send(pool.url);
    const [url] = (await listening) as [string];
    return new ScreenHost({ ...pool, url }, child);
  }

  private constructor(pool: PoolAddress, child: ChildProcess) {
    this.pool = pool;
    this.#child = child;
  }

  stop(): void {
    this.#child.kill();
  }
}
