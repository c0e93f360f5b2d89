import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { toKeyPair } from "../api/tls/key-pair.js";
import type { Config } from "../config/config.js";
import { failed, ok, skipped, warning, type Result } from "./finding.js";

const DAY_MS = 86_400_000;
/** Remaining validity below which a certificate is reported as a warning, in days. */
const SOON_DAYS = 30;

/** Checks the certificate of the web server. */
export async function checkCertificate(
  { dataDir, http: { tls } }: Pick<Config, "dataDir" | "http">,
  now: number,
): Promise<Result> {
  if (!tls.selfSigned && tls.certificate === "")
    return skipped("plain HTTP: no certificate is configured");
  const certificate = tls.certificate || join(dataDir, "tls.crt");
  const key = tls.certificate === "" ? join(dataDir, "tls.key") : tls.key;
  try {
    const { expiresAt } = toKeyPair(
      await readFile(certificate, "utf8"),
      await readFile(key, "utf8"),
      certificate,
    );
    return expiryResult(certificate, expiresAt, now);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && tls.certificate === "")
      return ok("the first start creates a self-signed certificate");
    return failed(
      message,
      "certificate and key (PEM) must belong together and be readable for the user of the service",
    );
  }
}

/** @param expiresAt ms since the epoch */
export function expiryResult(
  what: string,
  expiresAt: number,
  now: number,
): Result {
  const date = new Date(expiresAt).toISOString().slice(0, 10);
  if (expiresAt <= now) return failed(`${what} ended on ${date}`, "renew it");
  return expiresAt - now < SOON_DAYS * DAY_MS
    ? warning(`${what} ends on ${date}`, "renew it")
    : ok(`${what} is valid until ${date}`);
}
