/** What this package needs of a logger; the one that is passed in carries the name `xo:perf`. */
export interface Logger {
  debug(message: string, data?: object): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  error(message: string, data?: object): void;
}
