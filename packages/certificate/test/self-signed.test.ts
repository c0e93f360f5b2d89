import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate, createPrivateKey } from "node:crypto";
import { createServer, connect, type TLSSocket } from "node:tls";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import t from "tap";
import { makeSelfSigned } from "../src/self-signed.js";

const NAMES = [
  "localhost",
  "127.0.0.1",
  "::1",
  "fe80::1:2",
  "2001:db8:0:1::",
  "::ffff:192.0.2.1",
];

t.test("the certificate contains the requested names and dates", async (t) => {
  const { cert, key } = makeSelfSigned({
    commonName: `pool ü ${"x".repeat(80)}`,
    names: NAMES,
    validFrom: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    validUntil: Date.UTC(2036, 0, 2, 3, 4, 5),
  });
  const parsed = new X509Certificate(cert);
  t.match(parsed.subject, /^CN=pool .*x$/);
  t.equal(parsed.subject, parsed.issuer);
  t.equal(parsed.validFrom, "Jan  2 03:04:05 2026 GMT");
  t.equal(parsed.validTo, "Jan  2 03:04:05 2036 GMT");
  t.equal(parsed.ca, false);
  t.strictSame(parsed.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
  for (const name of NAMES)
    t.equal(
      name.includes(":") || /^\d/.test(name)
        ? parsed.checkIP(name)
        : parsed.checkHost(name),
      name,
    );
  t.equal(parsed.checkHost("other.example"), undefined);
  t.ok(parsed.checkPrivateKey(createPrivateKey(key)));
  t.ok(parsed.verify(parsed.publicKey), "signed with its own key");
});

t.test("a certificate of an RSA key is signed with it", async (t) => {
  const { cert, key } = makeSelfSigned({
    commonName: "a",
    names: ["a"],
    keyType: "rsa",
  });
  const parsed = new X509Certificate(cert);
  t.equal(parsed.publicKey.asymmetricKeyType, "rsa");
  t.equal(parsed.publicKey.asymmetricKeyDetails?.modulusLength, 2_048);
  t.ok(parsed.checkPrivateKey(createPrivateKey(key)));
  t.ok(parsed.verify(parsed.publicKey));
});

t.test("dates after 2049 have four digits of the year", async (t) => {
  const { cert } = makeSelfSigned({
    commonName: "a",
    names: ["a"],
    validFrom: Date.UTC(2049, 11, 31, 23, 59, 59),
    validUntil: Date.UTC(2050, 0, 1),
  });
  const { validFrom, validTo } = new X509Certificate(cert);
  t.equal(validFrom, "Dec 31 23:59:59 2049 GMT");
  t.equal(validTo, "Jan  1 00:00:00 2050 GMT");
});

t.test("an authority is marked, and every serial number differs", async (t) => {
  const created = Array.from({ length: 200 }, () =>
    makeSelfSigned({ commonName: "a", names: ["a"], isAuthority: true }),
  ).map(({ cert }) => new X509Certificate(cert));
  t.ok(created.every(({ ca }) => ca));
  t.equal(new Set(created.map(({ serialNumber }) => serialNumber)).size, 200);
  t.ok(created.every(({ serialNumber }) => serialNumber.length === 32));
});

t.test("a TLS client that trusts it accepts it by each name", async (t) => {
  const { cert, key } = makeSelfSigned({ commonName: "a", names: NAMES });
  const server = createServer({ cert, key }).listen(0, "127.0.0.1");
  t.teardown(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (const [servername, authorized] of [
    ["localhost", true],
    ["other.example", false],
  ] as const) {
    const socket: TLSSocket = connect({
      host: "127.0.0.1",
      port,
      servername,
      ca: cert,
      rejectUnauthorized: false,
    });
    await once(socket, "secureConnect");
    t.equal(socket.authorized, authorized, servername);
    socket.destroy();
  }
});

const skip =
  spawnSync("openssl", ["version"]).status === 0
    ? false
    : "openssl is not installed";

t.test("OpenSSL verifies it strictly", { skip }, async (t) => {
  const file = join(t.testdir(), "cert.pem");
  const openssl = (...args: readonly string[]) =>
    execFileSync("openssl", args, { encoding: "utf8" });
  for (const isAuthority of [false, true]) {
    const { cert } = makeSelfSigned({
      commonName: "a",
      names: NAMES,
      isAuthority,
    });
    writeFileSync(file, cert);
    t.match(
      openssl("verify", "-CAfile", file, "-purpose", "sslserver", file),
      /OK/,
    );
    const text = openssl("x509", "-in", file, "-noout", "-text");
    t.match(text, /Version: 3/);
    t.match(text, /ecdsa-with-SHA256/);
    t.match(text, isAuthority ? /Certificate Sign/ : /CA:FALSE/);
  }
});
