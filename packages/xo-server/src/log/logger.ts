import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";
import type { Logger } from "@xo-server/kit";
import { toConsoleLine, toJournalLine } from "./console-format.js";
import { redact } from "./redact.js";
import { RepeatLimit } from "./repeat-limit.js";

export type { Logger };

export const logFormats = ["console", "json", "journal"] as const;
export type LogFormat = (typeof logFormats)[number];

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Destination of formatted lines; `text` ends with a newline. */
export interface LogDestination {
  write(text: string): unknown;
  /** Blocks until all lines have left the process. */
  flush?(): void;
}

export interface LoggerOptions {
  readonly format?: LogFormat;
  readonly level?: LogLevel;
  /** Default: standard output. */
  readonly destination?: LogDestination;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Timer of the summaries of repeated lines; see RepeatLimit. */
  readonly schedule?: (callback: () => void, ms: number) => void;
  /** Color the names, for terminals. */
  readonly colour?: boolean;
}

export interface Loggers {
  /** The logger of a component, such as `xo:main`; `data` is added to each line. */
  named(name: string, data?: Readonly<Record<string, string>>): Logger;
  /** Blocks until all lines are written; for the end of the process. */
  flush(): void;
}

/** Creates the root logger; components use named children. */
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
    toFormat(destination, options),
  );
  const { schedule } = options;
  const limits = new RepeatLimit({ now, ...(schedule && { schedule }) });
  return {
    named: (name, data = {}) =>
      toLogger(root.child({ name, ...data }), limits, (line) =>
        JSON.stringify([name, data, line]),
      ),
    flush: () => destination.flush?.(),
  };
}

// pino takes the data first, Logger the message.
function toLogger(
  log: PinoLogger,
  limits: RepeatLimit,
  toKey: (line: unknown) => string,
): Logger {
  const limited =
    (level: "warn" | "error") =>
    (message: string, data: object = {}) => {
      const key = toKey([level, message, redact(data)]);
      const isLogged = limits.admits(key, (suppressed) => {
        log[level](data, `${message} (${suppressed} more within a minute)`);
      });
      if (isLogged) log[level](data, message);
    };
  return {
    debug: (message, data) => log.debug(data ?? {}, message),
    info: (message, data) => log.info(data ?? {}, message),
    warn: limited("warn"),
    error: limited("error"),
  };
}

function toFormat(
  destination: LogDestination,
  { format = "console", colour = false }: LoggerOptions,
): DestinationStream {
  switch (format) {
    case "json":
      return destination;
    case "journal":
      return {
        write: (line) => void destination.write(toJournalLine(line)),
      };
    case "console":
      return {
        write: (line) => void destination.write(toConsoleLine(line, colour)),
      };
  }
}

function toStandardOutput(): LogDestination {
  // Asynchronous: a terminal or pipe that is not read must not block the event loop.
  const stream = pino.destination({ dest: 1, sync: false });
  // The reader of the pipe has exited (`xo-server start | head`).
  stream.on("error", () => undefined);
  return {
    write: (text) => stream.write(text),
    flush() {
      try {
        stream.flushSync();
      } catch {
        // Not open yet, or closed.
      }
    },
  };
}
