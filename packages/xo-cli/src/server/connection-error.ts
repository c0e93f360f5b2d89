import { XoError } from "@xo-server/model";

/** Converts a connection error of Node.js to an XoError. */
export function toConnectionError(address: string, error: Error): Error {
  if (error instanceof XoError) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED")
    return new XoError("CONNECTION_REFUSED", { address }, error);
  if (code === "ECONNRESET" || code === "EPIPE") {
    const reason = "closed by the server";
    return new XoError("CONNECTION_LOST", { address, reason }, error);
  }
  const reason = REASONS[code] ?? (message === "" ? code : message);
  return new XoError("UNREACHABLE", { address, reason }, error);
}

/** Converts an error while reading a response; other errors are returned unchanged. */
export function toAnswerError(error: unknown): Error {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"].includes(code))
    return error as Error;
  const address = "the server";
  const reason = "the response is incomplete";
  return new XoError("CONNECTION_LOST", { address, reason }, error);
}

const NO_NAME = "unknown host name";
export const NO_TLS = "the server does not use TLS";

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: NO_NAME,
  EAI_AGAIN: NO_NAME,
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
};
