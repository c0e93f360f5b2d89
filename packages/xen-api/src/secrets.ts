import { XapiError, XoError } from "@xo-server/model";
import type { Logger } from "./logger.js";

const MASK = "***";

/**
 * What must never be seen: the password, session references, the proxy's
 * credentials. Every error and log line of the client passes through here.
 */
export class Secrets {
  readonly #texts = new Set<string>();

  /** From now on `secret` is masked, also where it is escaped for JSON or XML or url. */
  add(secret: string): void {
    // One or two characters are in every text and protect nothing.
    if (secret.length < 3) return;
    const xml = secret
      .replace(/&/g, "&amp;")
      .replace(/</g, "&lt;")
      .replace(/>/g, "&gt;");
    this.#texts.add(secret);
    this.#texts.add(JSON.stringify(secret).slice(1, -1));
    this.#texts.add(xml);
    this.#texts.add(xml.replace(/"/g, "&quot;"));
    this.#texts.add(encodeURIComponent(secret));
  }

  scrub(text: string): string {
    let clean = text;
    for (const secret of this.#texts) clean = clean.replaceAll(secret, MASK);
    return clean;
  }

  /** The same error when it is clean, else a copy with the secrets masked. */
  scrubError(error: unknown): Error {
    if (!(error instanceof Error)) return new Error(this.scrub(String(error)));
    if (error instanceof XapiError) {
      const params = error.params.map((param) => this.scrub(param));
      return isSame(params, error.params)
        ? error
        : new XapiError(error.code, params, error.method);
    }
    if (error instanceof XoError) {
      const data = this.#scrubData(error.data);
      const cause =
        error.cause === undefined ? undefined : this.#scrubCause(error.cause);
      return JSON.stringify(data) === JSON.stringify(error.data) &&
        cause === error.cause
        ? error
        : new XoError(error.code, data, cause);
    }
    const message = this.scrub(error.message);
    if (message === error.message) return error;
    return new Error(message);
  }

  /** A logger that masks. */
  maskingLogger(logger: Logger): Logger {
    const clean = (level: keyof Logger) => (message: string, data?: object) => {
      logger[level](
        this.scrub(message),
        data === undefined ? undefined : this.#scrubData(data),
      );
    };
    return {
      debug: clean("debug"),
      info: clean("info"),
      warn: clean("warn"),
      error: clean("error"),
    };
  }

  #scrubCause(cause: unknown): unknown {
    return cause instanceof Error
      ? this.scrubError(cause)
      : this.scrub(String(cause));
  }

  #scrubData(data: object): Record<string, unknown> {
    const entries = Object.entries(data).map(
      ([name, value]: [string, unknown]) => {
        if (typeof value === "string") return [name, this.scrub(value)];
        if (value instanceof Error) return [name, this.scrubError(value)];
        return [name, value];
      },
    );
    return Object.fromEntries(entries) as Record<string, unknown>;
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.every((item, index) => item === b[index]);
}
