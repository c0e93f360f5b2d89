/** What this package needs of a logger. It never gets a secret. */
export interface Logger {
  debug(message: string, data?: object): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  error(message: string, data?: object): void;
}

const drop = (): void => undefined;

export const silentLogger: Logger = {
  debug: drop,
  info: drop,
  warn: drop,
  error: drop,
};
