import { readFile } from "node:fs/promises";
import { XoError } from "@xo-server/model";
import {
  CERTIFICATES,
  findCertificateProblem,
} from "../../config/certificate-problem.js";
import type { Config } from "../../config/config.js";

/**
 * The certificates with which the identity provider signs, PEM, at least one.
 * @throws XoError CONFIG_INVALID
 */
export async function readSigningCertificates({
  certificate,
  certificateFile,
}: Pick<Config["saml"], "certificate" | "certificateFile">): Promise<string[]> {
  if (certificateFile === "") return toCertificates(certificate, "certificate");
  const where = "certificateFile";
  const text = await readFile(certificateFile, "utf8").catch(
    (error: NodeJS.ErrnoException) => {
      const reason = `${certificateFile} cannot be read (${error.code})`;
      throw invalid(where, reason, error);
    },
  );
  return toCertificates(text, where);
}

function toCertificates(text: string, where: string): string[] {
  const reason = findCertificateProblem(text);
  if (reason !== undefined) throw invalid(where, reason);
  return text.match(CERTIFICATES)!;
}

function invalid(key: string, reason: string, cause?: unknown): XoError {
  return new XoError("CONFIG_INVALID", { where: `saml.${key}`, reason }, cause);
}
