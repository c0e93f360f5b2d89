import type { PoolAddress } from "../harness/simulator.js";

/** One measurement, for a program of its own. */
export interface ConsoleJob {
  readonly pool: PoolAddress;
  /** Through the server, or straight to the host. */
  readonly way: "server" | "bare";
  readonly task:
    | {
        readonly kind: "keys";
        readonly consoles: number;
        /** Keys a console. */
        readonly keys: number;
        /** Between two keys of a console; 0: as soon as the screen has answered. */
        readonly pauseMs: number;
      }
    | { readonly kind: "bytes"; readonly bytes: number };
}
