import type { Server } from "node:net";
import { XoError } from "@xo-server/model";

interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Starts to listen.
 * @throws see `toListenError`
 */
export async function listen(
  server: Server,
  { host, port }: Endpoint,
  portKey: string,
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port }, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (error) {
    throw toListenError(
      error as NodeJS.ErrnoException,
      { host, port },
      portKey,
    );
  }
}

const FOREIGN_ADDRESS_CODES = new Set([
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "EINVAL",
  "ENOTFOUND",
]);

/** @returns XoError PORT_IN_USE, CONFIG_INVALID (not an address of this machine, privileged port), or the error itself */
export function toListenError(
  error: NodeJS.ErrnoException,
  { host, port }: Endpoint,
  portKey = "http.port",
): Error {
  const invalid = (where: string, reason: string) =>
    new XoError("CONFIG_INVALID", { where, reason }, error);
  if (error.code === "EADDRINUSE")
    return new XoError("PORT_IN_USE", { host, port }, error);
  if (error.code === "EACCES")
    return invalid(portKey, `permission denied to listen on port ${port}`);
  if (FOREIGN_ADDRESS_CODES.has(error.code ?? ""))
    return invalid("http.host", `${host} is not an address of this machine`);
  return error;
}
