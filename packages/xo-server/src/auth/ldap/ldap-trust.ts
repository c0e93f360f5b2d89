import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { XoError } from "@xo-server/model";
import type { Config } from "../../config/config.js";

type Tls = Config["ldap"]["tls"];

/** TLS options of a connection to the directory. */
export interface LdapTrust {
  readonly options: ConnectionOptions;
  /** tls.connect that closes the connection if the certificate is not the pinned one. */
  readonly connect: typeof connect;
}

/**
 * @param refuse called with the reason why the certificate is not trusted
 * @throws XoError CONFIG_INVALID for a file that cannot be read
 */
export async function createLdapTrust(
  tls: Tls,
  host: string,
  refuse: (error: Error) => void,
): Promise<LdapTrust> {
  return {
    options: {
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      rejectUnauthorized: tls.trust === "verify",
      ...(tls.caFile === "" ? {} : { ca: await readAuthorities(tls.caFile) }),
    },
    connect: ((...input: Parameters<typeof connect>) => {
      const socket = connect(...input);
      if (tls.trust !== "fingerprint") return socket;
      // Runs before other listeners of `secureConnect` can send credentials.
      socket.prependOnceListener("secureConnect", () => {
        const error = mismatch(socket, tls.fingerprint, host);
        if (error === undefined) return;
        refuse(error);
        socket.destroy(error);
      });
      return socket;
    }) as typeof connect,
  };
}

function mismatch(
  socket: TLSSocket,
  pinned: string,
  address: string,
): XoError | undefined {
  const actual = socket.getPeerX509Certificate()?.fingerprint256 ?? "none";
  if (bare(actual) === bare(pinned)) return undefined;
  const data = { address, fingerprint: bare(actual), pinned: bare(pinned) };
  return new XoError("TLS_FINGERPRINT_MISMATCH", data);
}

function bare(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toLowerCase();
}

async function readAuthorities(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = `${path} cannot be read (${code})`;
    throw new XoError(
      "CONFIG_INVALID",
      { where: "ldap.tls.caFile", reason },
      error,
    );
  }
}
