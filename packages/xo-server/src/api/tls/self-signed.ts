import type { WallClock } from "@xo-server/kit";
import { readFile, writeFile, mkdir, rename } from "node:fs/promises";
import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { toKeyPair, type KeyPair } from "./key-pair.js";

export interface SelfSignedOptions {
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
  const generated = await generateKeyPair(options);
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

async function generateKeyPair({
  host,
  clock,
}: SelfSignedOptions): Promise<KeyPair> {
  // Loaded on demand: 250 ms of modules.
  // As the default export: a bundle has no other one of a CommonJS package.
  const { default: selfsigned } = await import("selfsigned");
  const begin = new Date(clock.now());
  const end = new Date(begin);
  end.setUTCFullYear(begin.getUTCFullYear() + VALID_YEARS);
  const { cert, private: key } = await selfsigned.generate(
    [{ name: "commonName", value: hostname().slice(0, 64) }],
    {
      keyType: "ec",
      curve: "P-256",
      algorithm: "sha256",
      notBeforeDate: begin,
      notAfterDate: end,
      extensions: [
        { name: "basicConstraints", cA: false, critical: true },
        { name: "keyUsage", digitalSignature: true, critical: true },
        { name: "extKeyUsage", serverAuth: true },
        { name: "subjectAltName", altNames: [...namesOf(host)].map(toAltName) },
      ],
    },
  );
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

function toAltName(name: string) {
  return isIP(name) === 0
    ? { type: 2 as const, value: name }
    : { type: 7 as const, ip: name };
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
