import type { Logger } from "@xo-server/kit";
import { XapiError, XoError } from "@xo-server/model";

const MASK = "***";

/**
 * Session references that are masked: the latest ones. Each masked text takes time in
 * every message, and a client logs in again for as long as it exists.
 */
const MAX_SESSIONS = 64;

/**
 * Masks the password, session references and proxy credentials in every error
 * and log line of the client.
 */
export class Secrets {
  /** Secrets in their escaped forms. */
  readonly #lasting = new Set<string>();
  /** The same by session reference, oldest first. */
  readonly #sessions = new Map<string, readonly string[]>();

  /** Number of texts that are masked. */
  get size(): number {
    let size = this.#lasting.size;
    for (const forms of this.#sessions.values()) size += forms.length;
    return size;
  }

  /** Masks `secret` from now on, also in its escaped forms (JSON, XML, URL). */
  add(secret: string): void {
    for (const form of formsOf(secret)) this.#lasting.add(form);
  }

  /** Masks a session reference, until 64 others have been added. */
  addSession(session: string): void {
    this.#sessions.delete(session);
    this.#sessions.set(session, formsOf(session));
    if (this.#sessions.size <= MAX_SESSIONS) return;
    const [oldest] = this.#sessions.keys();
    this.#sessions.delete(oldest!);
  }

  scrub(text: string): string {
    let clean = text;
    for (const secret of this.#lasting) clean = clean.replaceAll(secret, MASK);
    for (const forms of this.#sessions.values())
      for (const secret of forms) clean = clean.replaceAll(secret, MASK);
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

function formsOf(secret: string): readonly string[] {
  // A secret of one or two characters occurs in every text: masking it would only destroy messages.
  if (secret.length < 3) return [];
  const xml = secret
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;");
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    xml,
    xml.replace(/"/g, "&quot;"),
    encodeURIComponent(secret),
  ];
  return [...new Set(forms)];
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.every((item, index) => item === b[index]);
}
