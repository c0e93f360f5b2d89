import { makeSelfSigned } from "@xo-server/certificate";
import type { WallClock } from "@xo-server/kit";
import { readFile, writeFile, mkdir, rename } from "node:fs/promises";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { toKeyPair, type KeyPair } from "./key-pair.js";

interface SelfSignedOptions {
  readonly dataDir: string;
  /** Address that the server listens on. */
  readonly host: string;
  readonly clock: Pick<WallClock, "now">;
}

/** Clients pin the certificate; an early expiry would only break them. */
const VALID_YEARS = 10;

/** The key pair in `dataDir`; generated if missing or expired. */
export async function loadSelfSigned(
  options: SelfSignedOptions,
): Promise<KeyPair> {
  const { dataDir, clock } = options;
  const paths = {
    cert: join(dataDir, "tls.crt"),
    key: join(dataDir, "tls.key"),
  };
  const found = await read(paths);
  if (found !== undefined && found.expiresAt > clock.now()) return found;
  const generated = generateKeyPair(options);
  await mkdir(dataDir, { recursive: true });
  await writeAtomically(paths.key, generated.key, 0o600);
  await writeAtomically(paths.cert, generated.cert, 0o644);
  return generated;
}

interface Paths {
  readonly cert: string;
  readonly key: string;
}

/** Undefined: no such files. @throws XoError CONFIG_INVALID: invalid files; they are not overwritten */
async function read({ cert, key }: Paths): Promise<KeyPair | undefined> {
  try {
    const [certText, keyText] = await Promise.all([
      readFile(cert, "utf8"),
      readFile(key, "utf8"),
    ]);
    return toKeyPair(certText, keyText, cert);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function generateKeyPair({ host, clock }: SelfSignedOptions): KeyPair {
  const validFrom = clock.now();
  const end = new Date(validFrom);
  end.setUTCFullYear(end.getUTCFullYear() + VALID_YEARS);
  const { cert, key } = makeSelfSigned({
    commonName: hostname(),
    names: [...namesOf(host)],
    validFrom,
    validUntil: end.getTime(),
  });
  return toKeyPair(cert, key, "tls.crt");
}

/** Names and addresses of this machine. */
function namesOf(host: string): Set<string> {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ address }) => address.replace(/%.*$/, ""));
  const names = new Set([hostname(), "localhost", ...addresses, host]);
  for (const none of ["0.0.0.0", "::", ""]) names.delete(none);
  return names;
}

/** Atomically, and never readable by others. */
async function writeAtomically(
  path: string,
  content: string,
  mode: number,
): Promise<void> {
  const part = `${path}.part`;
  await writeFile(part, content, { mode, flag: "w" });
  await rename(part, path);
}
