import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";
import { toConsoleLine } from "./console-format.js";
import { redact } from "./redact.js";

/** What every part of the program logs through. It is passed in, never imported. */
export interface Logger {
  debug(message: string, data?: object): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  error(message: string, data?: object): void;
}

export const logFormats = ["console", "json"] as const;
export type LogFormat = (typeof logFormats)[number];

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Where finished lines go; `text` ends with a newline. */
export interface LogDestination {
  write(text: string): unknown;
  /** Everything that was written has left the process. */
  flush?(): void;
}

export interface LoggerOptions {
  readonly format?: LogFormat;
  readonly level?: LogLevel;
  /** Standard output when absent. */
  readonly destination?: LogDestination;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Names in colour. Only a terminal is told apart by eye. */
  readonly colour?: boolean;
}

export interface Loggers {
  /** The logger of one part, such as `xo:main`; its name leads each line, `data` are in each. */
  named(name: string, data?: Readonly<Record<string, string>>): Logger;
  /** Wait, blocking, until all lines are out: for the last moment of a process. */
  flush(): void;
}

/** One root for the program; each part gets a named child of it. */
export function createLoggers(options: LoggerOptions = {}): Loggers {
  const destination = options.destination ?? toStandardOutput();
  const now = options.now ?? Date.now;
  const root = pino(
    {
      level: options.level ?? "info",
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: {
        level: (label) => ({ level: label }),
        log: (data) => redact(data) as Record<string, unknown>,
      },
    },
    options.format === "json"
      ? destination
      : toConsole(destination, options.colour ?? false),
  );
  return {
    named: (name, data = {}) => toLogger(root.child({ name, ...data })),
    flush: () => destination.flush?.(),
  };
}

// pino takes the data first; the rest of the program says the message first.
function toLogger(log: PinoLogger): Logger {
  return {
    debug: (message, data) => log.debug(data ?? {}, message),
    info: (message, data) => log.info(data ?? {}, message),
    warn: (message, data) => log.warn(data ?? {}, message),
    error: (message, data) => log.error(data ?? {}, message),
  };
}

function toConsole(
  destination: LogDestination,
  colour: boolean,
): DestinationStream {
  return {
    write: (line) => void destination.write(toConsoleLine(line, colour)),
  };
}

function toStandardOutput(): LogDestination {
  // Not synchronous: a terminal or pipe that is not read must not block the event loop.
  const stream = pino.destination({ dest: 1, sync: false });
  // The reader went away (`xo-server start | head`): there is nobody left to tell.
  stream.on("error", () => undefined);
  return {
    write: (text) => stream.write(text),
    flush() {
      try {
        stream.flushSync();
      } catch {
        // Not open yet, or closed: nothing can be flushed.
      }
    },
  };
}
