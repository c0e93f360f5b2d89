import { XoError } from "@xo-server/model";

/** Node's ways of failing to connect, in the words of the table of errors. */
export function toConnectionError(address: string, error: Error): Error {
  if (error instanceof XoError) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED")
    return new XoError("CONNECTION_REFUSED", { address }, error);
  if (code === "ECONNRESET" || code === "EPIPE") {
    const reason = "the server closed it";
    return new XoError("CONNECTION_LOST", { address, reason }, error);
  }
  const reason = REASONS[code] ?? (message === "" ? code : message);
  return new XoError("UNREACHABLE", { address, reason }, error);
}

/** When an answer breaks off in its middle. Other errors stay what they are. */
export function toAnswerError(error: unknown): Error {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"].includes(code))
    return error as Error;
  const address = "the server";
  const reason = "it closed in the middle of its answer";
  return new XoError("CONNECTION_LOST", { address, reason }, error);
}

const NO_NAME = "there is no such name";
export const NO_TLS = "it does not speak TLS";

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: NO_NAME,
  EAI_AGAIN: NO_NAME,
  EPROTO: NO_TLS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
};
