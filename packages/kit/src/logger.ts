/**
 * Writes log lines. Passed in, never imported as a global. `data` is logged as JSON
 * members and must not contain secrets.
 */
export interface Logger {
  debug(message: string, data?: object): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  error(message: string, data?: object): void;
}

const discard = (): void => undefined;

export const silentLogger: Logger = {
  debug: discard,
  info: discard,
  warn: discard,
  error: discard,
};
