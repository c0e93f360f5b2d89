import type { WallClock } from "@xo-server/kit";
import type { Duplex } from "node:stream";
import type { Inventory } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { WebSocket } from "ws";
import type { Config } from "../config/config.js";
import type { LimitHits } from "../limits/limit-hits.js";
import type { FoundObject } from "../objects/found-object.js";
import type { RequestedObject } from "../operations/access.js";
import type { Audit } from "../operations/audit.js";
import type { Client } from "../auth/sessions/client.js";
import type { CallContext } from "../operations/operation.js";
import type { Sessions } from "../auth/sessions/sessions.js";
import type { Pools } from "../pools/pools.js";
import { ConsoleAccess, type ConsoleSummary } from "./console-access.js";
import { ConsoleCounts } from "./console-counts.js";
import { ConsoleRecord } from "./console-record.js";
import {
  ConsoleConnection,
  type ConsoleTraffic,
} from "./console-connection.js";
import {
  findConsole,
  type ConsoleKind,
  type ConsoleOwner,
} from "./console-target.js";
import { openStream } from "./open-stream.js";

export interface ConsolesOptions {
  readonly config: Config["consoles"];
  readonly findObject: (id: string) => FoundObject | undefined;
  /** See RequestedObject. */
  readonly missing?: RequestedObject["missing"];
  readonly inventory: Pick<Inventory, "get" | "list">;
  readonly pools: Pick<Pools, "xapi">;
  readonly sessions: Pick<Sessions, "begin" | "remove">;
  readonly audit: Audit;
  readonly hits: Pick<LimitHits, "count">;
  readonly clock: WallClock;
}

/** A request to open a console. */
interface ConsoleRequest {
  /** Id of a VM, or of a host, whose console is that of its control domain. */
  readonly id: string;
  readonly kind: ConsoleKind;
  readonly context: CallContext;
}

/**
 * A console that waits for the socket of its client. One of the two functions must
 * be called, once.
 */
export interface OpenedConsole {
  /** Starts to copy bytes. */
  attach(socket: WebSocket): void;
  /** Closes the console: the client has disconnected before its socket was attached. */
  drop(): void;
}

/** Figures since the start of the server. Bytes are counted when a console has ended. */
export interface ConsoleFigures {
  readonly open: number;
  readonly opened: number;
  readonly refused: number;
  readonly bytesToClients: number;
  readonly bytesFromClients: number;
}

/** Opens consoles, and ends them when rights change. */
export class Consoles {
  readonly #options: ConsolesOptions;
  readonly #access: ConsoleAccess;
  readonly #counts: ConsoleCounts;
  readonly #open = new Set<ConsoleConnection>();
  /** Controllers of all consoles that are open or being opened. */
  readonly #running = new Set<AbortController>();
  /** Sessions that have ended and are being written to the audit log. */
  readonly #endings = new Set<Promise<void>>();
  readonly #sums = {
    opened: 0,
    refused: 0,
    bytesToClients: 0,
    bytesFromClients: 0,
  };

  constructor(options: ConsolesOptions) {
    this.#options = options;
    this.#access = new ConsoleAccess(options);
    const { config: limits, hits } = options;
    this.#counts = new ConsoleCounts({ limits, hits });
  }

  get figures(): ConsoleFigures {
    return { open: this.#open.size, ...this.#sums };
  }

  /** @throws XoError UNAUTHORIZED, NO_SUCH_OBJECT, FORBIDDEN, VM_BAD_POWER_STATE */
  describe(id: string, context: CallContext): ConsoleSummary {
    return this.#access.describe(id, context);
  }

  /**
   * Opens a console, after all checks.
   * @param disconnected aborted when the client has disconnected
   * @throws XoError as describe does; TOO_MANY_REQUESTS, STORE_UNAVAILABLE,
   * NOT_CONNECTED, READ_ONLY, CONNECTION_TIMEOUT and those of the connection
   */
  async open(
    request: ConsoleRequest,
    disconnected: AbortSignal,
  ): Promise<OpenedConsole> {
    const { audit, clock } = this.#options;
    const { id, context } = request;
    const subject = { ...request, type: this.#access.typeOf(id) };
    const record = new ConsoleRecord(audit, subject, clock);
    try {
      const owner = this.#access.admit(id, context);
      audit.check();
      return await this.#reserve({ request, owner, record }, disconnected);
    } catch (error) {
      this.#sums.refused++;
      // Rejected anonymous clients are not recorded: they could fill the audit log.
      if (context.user !== undefined) await record.refused(error as Error);
      throw error;
    }
  }

  /**
   * To be called when the user of a client, or the rights of the user, have changed.
   * @returns false: the client is not a console
   */
  renew(client: Client): boolean {
    if (!(client instanceof ConsoleConnection)) return false;
    client.renew();
    return true;
  }

  /** Ends all consoles. Resolves when the audit log is written. */
  async stop(): Promise<void> {
    for (const connection of this.#open) connection.close();
    for (const running of this.#running)
      running.abort(new XoError("CLOSED", { what: "the server" }));
    // The audit entries are written one promise after the end of each console.
    await new Promise<void>((resolve) => setImmediate(resolve));
    await Promise.all(this.#endings);
  }

  async #reserve(
    opening: Omit<Opening, "release">,
    disconnected: AbortSignal,
  ): Promise<OpenedConsole> {
    const { owner, request } = opening;
    const release = this.#counts.take(request.context.user!.id, owner.id);
    try {
      return await this.#connect({ ...opening, release }, disconnected);
    } catch (error) {
      release();
      throw error;
    }
  }

  async #connect(
    opening: Opening,
    disconnected: AbortSignal,
  ): Promise<OpenedConsole> {
    const { config, inventory, pools, clock } = this.#options;
    const { owner, record, request } = opening;
    const { connectTimeoutMs: ms } = config;
    const running = new AbortController();
    const { signal } = running;
    const giveUp = () => {
      running.abort(new XoError("ABORTED", { what: "opening the console" }));
    };
    const timer = clock.setTimeout(() => {
      const address = owner.pool;
      running.abort(new XoError("CONNECTION_TIMEOUT", { address, ms }));
    }, ms);
    disconnected.addEventListener("abort", giveUp, { once: true });
    this.#running.add(running);
    try {
      const xapi = pools.xapi(owner.pool);
      const find = () => findConsole(inventory, owner, request.kind);
      const stream = await openStream({ find, xapi, clock, signal });
      await record.begun();
      this.#sums.opened++;
      return this.#offer({ ...opening, stream, running });
    } catch (error) {
      this.#running.delete(running);
      throw signal.aborted ? (signal.reason as Error) : error;
    } finally {
      clock.clearTimeout(timer);
      disconnected.removeEventListener("abort", giveUp);
    }
  }

  #offer(opened: Opened): OpenedConsole {
    return {
      attach: (socket) => {
        this.#attach(opened, socket);
      },
      drop: () => {
        opened.stream.destroy();
        const nothing = { bytesToClient: 0, bytesFromClient: 0 };
        this.#ended(opened, "the client has disconnected", nothing);
      },
    };
  }

  #attach(opened: Opened, socket: WebSocket): void {
    const { clock, config, sessions, pools } = this.#options;
    const { stream, owner, request } = opened;
    const { context } = request;
    const connection = new ConsoleConnection({
      socket,
      stream,
      clock,
      pingMs: config.pingMs,
      reasonToEnd: () => this.#access.reasonToEnd(owner.id, context),
    });
    this.#open.add(connection);
    const leave = pools.xapi(owner.pool).onState(({ name }) => {
      if (name === "stopped") connection.close("the pool was disconnected");
    });
    void connection.ended.then((reason) => {
      leave();
      sessions.remove(connection);
      this.#open.delete(connection);
      this.#ended(opened, reason, connection.traffic);
    });
    // The session ends when the token or the rights of its user do.
    sessions.begin(connection, context.client.session!);
  }

  #ended(opened: Opened, reason: string, traffic: ConsoleTraffic): void {
    opened.release();
    this.#running.delete(opened.running);
    this.#sums.bytesToClients += traffic.bytesToClient;
    this.#sums.bytesFromClients += traffic.bytesFromClient;
    const ending = opened.record.ended(reason, traffic).finally(() => {
      this.#endings.delete(ending);
    });
    this.#endings.add(ending);
  }
}

interface Opening {
  readonly request: ConsoleRequest;
  readonly owner: ConsoleOwner;
  readonly record: ConsoleRecord;
  /** Removes the console from the counts. */
  readonly release: () => void;
}

interface Opened extends Opening {
  readonly stream: Duplex;
  readonly running: AbortController;
}
