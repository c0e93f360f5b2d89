import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** More of a kind than after the first run is a leak: one pool of connections for each of two hosts and the network may come and go. */
const TOLERANCE = 24;
/** Time for connections to be closed. */
const PATIENCE_MS = 10_000;

type Counts = ReadonlyMap<string, number>;

/** Timers and connections of the client in this process, compared with those after the first run. */
export class OpenResources {
  readonly #isOfClient: (socket: Socket) => boolean;
  #first: Counts | undefined;

  /** @param isOfClient false: a socket of the simulator, which shares the process */
  constructor(isOfClient: (socket: Socket) => boolean) {
    this.#isOfClient = isOfClient;
  }

  /** @returns one line for each kind of which there are too many */
  async leaks(): Promise<string[]> {
    if (this.#first === undefined) {
      this.#first = this.#count();
      return [];
    }
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = this.#compare(this.#first);
      if (found.length === 0 || performance.now() > until) return found;
      await pause(250);
    }
  }

  #compare(first: Counts): string[] {
    return [...this.#count()].flatMap(([kind, count]) => {
      const before = first.get(kind) ?? 0;
      return count > before + TOLERANCE
        ? [`${count} open ${kind}, ${before} after the first run`]
        : [];
    });
  }

  #count(): Counts {
    const timers = process
      .getActiveResourcesInfo()
      .filter((kind) => kind === "Timeout");
    const sockets = activeHandles().filter(
      (handle) => handle instanceof Socket && this.#isOfClient(handle),
    );
    return new Map([
      ["timers", timers.length],
      ["connections", sockets.length],
    ]);
  }
}

/** Deprecated, but getActiveResourcesInfo does not report the owner of a socket. */
function activeHandles(): readonly unknown[] {
  const { _getActiveHandles } = process as unknown as {
    _getActiveHandles: () => readonly unknown[];
  };
  return _getActiveHandles.call(process);
}
