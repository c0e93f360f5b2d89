import type { Logger } from "@xo-server/kit";
import { XapiError, XoError } from "@xo-server/model";

const MASK = "***";

/**
 * Masks the password, session references and proxy credentials in every error
 * and log line of the client.
 */
export class Secrets {
  readonly #texts = new Set<string>();

  /** Masks `secret` from now on, also in its escaped forms (JSON, XML, URL). */
  add(secret: string): void {
    // A secret of one or two characters occurs in every text: masking it would only destroy messages.
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

  /** The same error if it has no secrets, else a copy with the secrets masked. */
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

  /** A logger that masks secrets. */
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
