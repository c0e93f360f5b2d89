import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import {
  bitString,
  boolean,
  contextTag,
  integer,
  nullValue,
  objectId,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from "./der.js";

export interface CertificateOptions {
  /** Common name of subject and issuer; cut after 64 characters (X.520). */
  readonly commonName: string;
  /** DNS names and IP addresses that the certificate is valid for. */
  readonly names: readonly string[];
  /** Default: `ec`, P-256. `rsa`: 2,048 bits, for peers that know nothing else, as XML signatures. */
  readonly keyType?: "ec" | "rsa";
  /** Marks the certificate as an authority: GnuTLS (qemu) trusts no other self-signed one. */
  readonly isAuthority?: boolean;
  /** Milliseconds since the epoch; default: now. */
  readonly validFrom?: number;
  /** Milliseconds since the epoch; default: one year after `validFrom`. */
  readonly validUntil?: number;
}

export interface CertificateAndKey {
  /** PEM, X.509 version 3. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

const YEAR_MS = 365 * 24 * 3600_000;

/** Object identifiers of RFC 5280, RFC 5758 and RFC 8017. */
const ALGORITHMS = {
  ec: sequence(objectId("1.2.840.10045.4.3.2")),
  rsa: sequence(objectId("1.2.840.113549.1.1.11"), nullValue()),
};
const COMMON_NAME = objectId("2.5.4.3");
const SERVER_AUTH = objectId("1.3.6.1.5.5.7.3.1");
const VERSION_3 = contextTag(0, integer(Buffer.from([2])));

/** Creates a key and a certificate for TLS servers that is signed with it (RFC 5280). */
export function makeSelfSigned(options: CertificateOptions): CertificateAndKey {
  const { validFrom = Date.now(), keyType = "ec" } = options;
  const algorithm = ALGORITHMS[keyType];
  const { publicKey, privateKey } =
    keyType === "ec"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const { validUntil = validFrom + YEAR_MS } = options;
  const name = nameOf(options.commonName.slice(0, 64));
  const toBeSigned = sequence(
    VERSION_3,
    integer(serialNumber()),
    algorithm,
    name,
    sequence(time(validFrom), time(validUntil)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    contextTag(3, extensionsOf(options)),
  );
  const signature = sign("sha256", toBeSigned, privateKey);
  const cert = sequence(toBeSigned, algorithm, bitString(signature));
  return {
    cert: toPem("CERTIFICATE", cert),
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}

/** 128 bits, positive: the first bit is the sign. */
function serialNumber(): Buffer {
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x3f) | 0x40;
  return serial;
}

function nameOf(commonName: string): Buffer {
  return sequence(set(sequence(COMMON_NAME, utf8String(commonName))));
}

function extensionsOf({ names, isAuthority = false }: CertificateOptions) {
  // Bits from the left: digitalSignature is 0, keyCertSign is 5.
  const usage = isAuthority
    ? bitString(Buffer.from([0b1000_0100]), 2)
    : bitString(Buffer.from([0b1000_0000]), 7);
  return sequence(
    extension("2.5.29.19", sequence(...(isAuthority ? [boolean(true)] : [])), {
      critical: true,
    }),
    extension("2.5.29.15", usage, { critical: true }),
    extension("2.5.29.37", sequence(SERVER_AUTH)),
    extension("2.5.29.17", sequence(...names.map(alternativeName))),
  );
}

function extension(
  id: string,
  value: Buffer,
  { critical = false } = {},
): Buffer {
  return sequence(
    objectId(id),
    ...(critical ? [boolean(true)] : []),
    octetString(value),
  );
}

function alternativeName(name: string): Buffer {
  switch (isIP(name)) {
    case 4:
      return contextTag(7, Buffer.from(name.split(".").map(Number)), {
        constructed: false,
      });
    case 6:
      return contextTag(7, bytesOfIpv6(name), { constructed: false });
    default:
      return contextTag(2, Buffer.from(name, "ascii"), { constructed: false });
  }
}

function bytesOfIpv6(address: string): Buffer {
  // The URL parser writes all forms in one: no leading zeros, no dotted part.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = text
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = new Array<string>(8 - head.length - tail.length).fill("0");
  const bytes = Buffer.alloc(16);
  [...head, ...zeros, ...tail].forEach((group, i) =>
    bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * i),
  );
  return bytes;
}

function toPem(label: string, der: Buffer): string {
  const lines = der.toString("base64").replace(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
