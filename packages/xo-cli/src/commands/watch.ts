import { XoError } from "@xo-server/model";
import { Command } from "commander";
import type { Run } from "../command.js";
import type { Context } from "../context.js";
import { followRows, type Followed } from "../objects/follow-rows.js";
import { columnsOf, toType } from "../objects/object-types.js";
import { topLevel } from "../objects/path.js";
import { WatchedRows } from "../objects/watched-rows.js";
import { toJsonEvent, toEventLine } from "../output/row-event.js";
import { toNames } from "./list.js";

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;
/** Before the connection to another server, when the present one is stopping. */
const MOVE_MS = 50;

/** Temporary errors, which are retried; other errors end the command. */
const TEMPORARY = new Set([
  "CONNECTION_REFUSED",
  "CONNECTION_LOST",
  "UNREACHABLE",
]);

interface WatchOptions {
  readonly filter?: string;
  readonly fields?: readonly string[];
}

/** `xo-cli watch`: prints each change. Reconnects after a lost connection; ends by a signal only. */
export function watchCommand(run: Run): Command {
  return new Command("watch")
    .description("watch for object changes until Ctrl-C")
    .argument("[type]", "VM, host, pool, SR, network, VDI, ...")
    .option("--filter <filter>", "such as 'power_state:running tags:(a b)'")
    .option(
      "--fields <names>",
      "fields to watch, such as power_state,tags",
      toNames,
    )
    .action((type: string | undefined, options: WatchOptions, command) => {
      run(command as Command, (context) => watch(context, type, options));
    });
}

async function watch(
  context: Context,
  name: string | undefined,
  { filter, fields }: WatchOptions,
): Promise<void> {
  const type = name === undefined ? undefined : toType(name);
  const paths = fields ?? (context.terminal.json ? undefined : columnsOf(type));
  const fieldNames =
    paths === undefined ? undefined : topLevel(["id", "name_label", ...paths]);
  const server = await context.server();
  const rows = new WatchedRows();
  const watcher = new Watcher(
    context,
    { type, filter, fields: fieldNames },
    rows,
  );
  for (let wait = FIRST_DELAY_MS; ;) {
    try {
      await watcher.follow(await server.signIn());
    } catch (error) {
      if (context.isClosed || !watcher.wasReady || !isTemporary(error))
        throw error;
      if (watcher.isReady) wait = isStopping(error) ? MOVE_MS : FIRST_DELAY_MS;
      await watcher.onLost(error);
      await context.delay(wait);
      wait = Math.min(Math.max(wait * 2, FIRST_DELAY_MS), MAX_DELAY_MS);
    }
  }
}

/** Another server behind the same address may answer at once. */
function isStopping({ data }: XoError): boolean {
  return data["isStopping"] === true;
}

function isTemporary(error: unknown): error is XoError {
  return error instanceof XoError && TEMPORARY.has(error.code);
}

/** Logs reconnections; the rows stay, so that only differences are printed. */
class Watcher {
  readonly #context: Context;
  readonly #followed: Followed;
  readonly #rows: WatchedRows;
  /** The current connection has received all rows. */
  isReady = false;
  /** Some connection has received all rows. */
  wasReady = false;

  constructor(context: Context, followed: Followed, rows: WatchedRows) {
    this.#context = context;
    this.#followed = followed;
    this.#rows = rows;
  }

  follow(rpc: Parameters<typeof followRows>[0]): Promise<never> {
    const { terminal } = this.#context;
    return followRows(rpc, this.#followed, {
      rows: this.#rows,
      onEvents: async (events) => {
        // The initial rows are printed in machine-readable output only.
        const printed = terminal.json || this.wasReady ? events : [];
        const toLine = terminal.json
          ? toJsonEvent
          : toEventLine(terminal.colors);
        if (printed.length > 0)
          await terminal.line(printed.map(toLine).join("\n"));
      },
      onReady: () => this.#onReady(),
    });
  }

  async #onReady(): Promise<void> {
    this.isReady = true;
    this.wasReady = true;
    const { terminal } = this.#context;
    const total = this.#rows.size;
    const { type } = this.#followed;
    const what = type === undefined ? "objects" : `${type} objects`;
    if (terminal.json) await terminal.jsonLine({ event: "ready", total });
    else await terminal.note(`watching ${total} ${what}; press Ctrl-C to stop`);
  }

  async onLost({ code, message }: XoError): Promise<void> {
    if (!this.isReady) return; // reported when the connection was lost
    this.isReady = false;
    const { terminal } = this.#context;
    if (terminal.json)
      await terminal.jsonLine({ event: "lost", code, message });
    else await terminal.note(`${message}; reconnecting`);
  }
}
