import { wallClock } from "@xo-server/kit";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import t, { type Test } from "tap";
import { loadConfig } from "../src/config/load-config.js";
import { createLoggers } from "../src/log/logger.js";
import { LdapDirectory } from "../src/auth/ldap/ldap-directory.js";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { SERVICE_PASSWORD, skipLdap, Slapd } from "./slapd.js";

const UNREACHABLE_PROBLEMS = { code: "PROVIDER_UNAVAILABLE" };
const silent = createLoggers({ destination: { write: () => undefined } });

function createDirectory(t: Test, ldap: object): LdapDirectory {
  const all = {
    bindDn: "cn=service,dc=example",
    bindPassword: SERVICE_PASSWORD,
    base: "ou=people,dc=example",
    ...ldap,
  };
  const home = t.testdir({ "config.yaml": JSON.stringify({ ldap: all }) });
  const { config } = loadConfig(undefined, {}, { env: {}, cwd: home, home });
  return new LdapDirectory({
    ldap: config.ldap,
    clock: wallClock,
    logger: silent.named("xo:test"),
  });
}

t.test("TLS", { skip: skipLdap }, async (t) => {
  const { cert, key, fingerprint } = makeLoopbackCertificate();
  const slapd = await Slapd.start({ tls: { cert, key } });
  t.teardown(() => slapd.remove());
  const caFile = join(t.testdir(), "ca.pem");
  const wrong = fingerprint.replace(/^../, (two) =>
    two === "00" ? "01" : "00",
  );
  const ways = [
    {
      name: "verify",
      tls: { trust: "verify" },
      isGood: false,
      reason: "DEPTH_ZERO_SELF_SIGNED_CERT",
    },
    { name: "an authority", tls: { caFile }, isGood: true },
    {
      name: "the right pin",
      tls: { trust: "fingerprint", fingerprint },
      isGood: true,
    },
    {
      name: "another pin",
      tls: { trust: "fingerprint", fingerprint: wrong },
      isGood: false,
      reason: "TLS_FINGERPRINT_MISMATCH",
    },
    { name: "insecure", tls: { trust: "insecure" }, isGood: true },
  ];
  for (const { name, tls, isGood, reason } of ways)
    for (const url of [slapd.url, slapd.secureUrl])
      await t.test(`${name} with ${url.split(":")[0]}`, async (t) => {
        const directory = createDirectory(t, { urls: [url], tls });
        writeFileSync(caFile, cert);
        const asked = directory.verify("ada", "ada-secret");
        if (isGood) t.match(await asked, { name: "ada" });
        else
          await t.rejects(asked, { ...UNREACHABLE_PROBLEMS, data: { reason } });
      });
});

t.test(
  "no password is sent to an LDAP server without TLS if TLS is required",
  { skip: skipLdap },
  async (t) => {
    const slapd = await Slapd.start();
    t.teardown(() => slapd.remove());
    const directory = createDirectory(t, { urls: [slapd.url] });
    await t.rejects(
      directory.verify("ada", "ada-secret"),
      UNREACHABLE_PROBLEMS,
    );
  },
);

t.test(
  "of several servers the one that answered last is requested first",
  { skip: skipLdap },
  async (t) => {
    let calls = 0;
    const broken = await listen(t, (socket) => {
      calls++;
      socket.destroy();
    });
    const slapd = await Slapd.start();
    t.teardown(() => slapd.remove());
    const urls = [broken, slapd.url];
    const directory = createDirectory(t, { urls, startTls: false });
    for (let i = 0; i < 3; i++)
      t.match(await directory.verify("ada", "ada-secret"), { name: "ada" });
    t.equal(calls, 1);
    await slapd.kill();
    await t.rejects(
      directory.verify("ada", "ada-secret"),
      UNREACHABLE_PROBLEMS,
    );
    t.equal(calls, 2);
  },
);

t.test("concurrent requests to an LDAP server are limited", async (t) => {
  let calls = 0;
  const slow = await listen(t, () => {
    calls++;
  });
  const directory = createDirectory(t, {
    urls: [slow],
    startTls: false,
    timeoutMs: 2_000,
  });
  const answers = await Promise.allSettled(
    Array.from({ length: 70 }, () => directory.verify("ada", "x")),
  );
  const codes = answers.map(
    (answer) =>
      ((answer as PromiseRejectedResult).reason as { code: string }).code,
  );
  t.equal(codes.filter((code) => code === "TOO_MANY_REQUESTS").length, 6);
  t.equal(calls, 64);
});

t.test("a server that is not an LDAP server times out", async (t) => {
  let received = 0;
  const silentServer = await listen(t, (socket) => {
    socket.on("data", (data: Buffer) => (received += data.length));
  });
  const directory = createDirectory(t, {
    urls: [silentServer],
    startTls: false,
    timeoutMs: 100,
  });
  await t.rejects(directory.verify("ada", "ada-secret"), {
    ...UNREACHABLE_PROBLEMS,
    data: { reason: "CONNECTION_TIMEOUT" },
  });
  t.ok(received > 0);
});

t.test(
  "an LDAP server that sends endless responses is disconnected",
  async (t) => {
    const chatter = await listen(t, (socket) => {
      // The head of an answer of 2 GiB.
      socket.write(Buffer.from("30847fffffff020102", "hex"));
      const block = Buffer.alloc(65_536);
      const more = () => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on("drain", more);
      more();
    });
    const directory = createDirectory(t, {
      urls: [chatter],
      startTls: false,
      timeoutMs: 20_000,
    });
    await t.rejects(directory.verify("ada", "ada-secret"), {
      ...UNREACHABLE_PROBLEMS,
      data: { reason: "ANSWER_TOO_LARGE" },
    });
  },
);

/** @returns its address as that of a directory */
async function listen(
  t: Test,
  onSocket: (socket: Socket) => void,
): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    t.teardown(() => socket.destroy());
    onSocket(socket);
  }).listen(0, "127.0.0.1");
  t.teardown(() => server.close());
  await once(server, "listening");
  return `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
