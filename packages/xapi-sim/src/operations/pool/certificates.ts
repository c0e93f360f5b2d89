import { X509Certificate, createPrivateKey, type KeyObject } from "node:crypto";
import { makeSelfSigned } from "@xo-server/certificate";
import { toDatetime } from "../../clock.js";
import type { Database } from "../../database.js";
import type { OperationHandler, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import { text, textParam } from "../../records/fields.js";
import { serverCertificate } from "./server-certificate.js";

/** Certificates of hosts, of certification authorities, and revocation lists. Names of files as in certificates.ml, from memory. */
export const certificateOperations: OperationTable = {
  "host.get_server_certificate": ({ db }, params) => {
    db.get("host", textParam(params, 0));
    return serverCertificate;
  },
  "host.install_server_certificate": ({ db }, params) => {
    const [host, pem, privateKey] = params as readonly string[];
    db.get("host", host!);
    const key = readKey(privateKey!);
    const certificate = readCertificate(pem!, "SERVER_CERTIFICATE_INVALID");
    if (!certificate.checkPrivateKey(key))
      throw new XapiFailure("SERVER_CERTIFICATE_KEY_MISMATCH");
    replaceCertificate(db, certificate, { type: "host", host: host! });
  },
  "host.reset_server_certificate": ({ db }, params) => {
    replaceCertificate(db, newCertificate(db, params), {
      type: "host",
      host: textParam(params, 0),
    });
  },
  "host.refresh_server_certificate": ({ db }, params) => {
    replaceCertificate(db, newCertificate(db, params), {
      type: "host_internal",
      host: textParam(params, 0),
    });
  },
  "pool.install_ca_certificate": installCa,
  "pool.certificate_install": installCa,
  "pool.uninstall_ca_certificate": uninstallCa,
  "pool.certificate_uninstall": uninstallCa,
  "pool.certificate_list": ({ db }) =>
    authorities(db).map(([, record]) => text(record, "name")),
  "pool.crl_install": (_, params) => {
    assertFileName(textParam(params, 0), "CRL_NAME_INVALID");
    if (!textParam(params, 1).includes("-----BEGIN X509 CRL-----"))
      throw new XapiFailure("CRL_INVALID");
  },
  "pool.crl_uninstall": (_, params) => {
    assertFileName(textParam(params, 0), "CRL_NAME_INVALID");
    throw new XapiFailure("CRL_DOES_NOT_EXIST", [textParam(params, 0)]);
  },
};

function installCa({ db }: Context, params: Params): void {
  const [name, pem] = params as readonly string[];
  const certificate = readCertificate(pem!, "CA_CERTIFICATE_INVALID");
  assertFileName(name!, "CERTIFICATE_NAME_INVALID");
  if (authorities(db).some(([, record]) => record["name"] === name))
    throw new XapiFailure("CERTIFICATE_ALREADY_EXISTS", [name!]);
  addCertificate(db, certificate, { type: "ca", name: name! });
}

function uninstallCa({ db }: Context, params: Params): void {
  const name = textParam(params, 0);
  assertFileName(name, "CERTIFICATE_NAME_INVALID");
  const found = authorities(db).find(([, record]) => record["name"] === name);
  if (found === undefined)
    throw new XapiFailure("CERTIFICATE_DOES_NOT_EXIST", [name]);
  db.destroy("Certificate", found[0]);
}

type Context = Parameters<OperationHandler>[0];
type Params = Parameters<OperationHandler>[1];

function authorities(db: Database) {
  return [...db.records("Certificate")].filter(
    ([, record]) => record["type"] === "ca",
  );
}

/** The name of a file with an extension, in no folder. */
function assertFileName(name: string, error: string): void {
  if (!/^\w[\w-]*(\.[\w-]+)*\.(crt|pem|crl)$/.test(name))
    throw new XapiFailure(error, [name]);
}

function readCertificate(pem: string, error: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    // What is not a certificate has no other reason.
    throw new XapiFailure(error);
  }
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // What is not a key has no other reason.
    throw new XapiFailure("SERVER_CERTIFICATE_KEY_INVALID");
  }
}

/** Self-signed. */
function newCertificate(db: Database, params: Params): X509Certificate {
  const host = db.get("host", textParam(params, 0));
  const names = [text(host, "hostname"), text(host, "address")];
  const [commonName = ""] = names;
  return new X509Certificate(makeSelfSigned({ commonName, names }).cert);
}

function replaceCertificate(
  db: Database,
  certificate: X509Certificate,
  fields: { readonly type: string; readonly host: string },
): void {
  for (const [ref, record] of [...db.records("Certificate")])
    if (record["host"] === fields.host && record["type"] === fields.type)
      db.destroy("Certificate", ref);
  addCertificate(db, certificate, { ...fields, name: "" });
}

function addCertificate(
  db: Database,
  certificate: X509Certificate,
  fields: { readonly type: string; readonly name: string; host?: string },
): void {
  db.create("Certificate", {
    ...fields,
    not_before: toDatetime(Date.parse(certificate.validFrom)),
    not_after: toDatetime(Date.parse(certificate.validTo)),
    fingerprint: certificate.fingerprint256,
    fingerprint_sha256: certificate.fingerprint256,
    fingerprint_sha1: certificate.fingerprint,
  });
}
