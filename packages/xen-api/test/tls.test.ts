import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import t from "tap";
import { XoError } from "@xo-server/model";
import type { TlsPolicy, Xapi } from "../src/index.js";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import {
  clientOf,
  createClient,
  keepingLogger,
  PASSWORD,
  startPool,
} from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import { FakeXapi, httpAnswer, poolScript } from "./fake-xapi.js";

const certificate = makeLoopbackCertificate();
const other = makeLoopbackCertificate();

async function startTlsPool(
  t: { teardown(fn: () => Promise<void>): void },
  shown = certificate,
) {
  const pool = await new FakeXapi(
    poolScript(({ method }) =>
      method === "VM.get_all"
        ? {
            raw: httpAnswer(JSON.stringify({ result: "x".repeat(300_000) })),
            keep: true,
          }
        : undefined,
    ),
    shown,
  ).listen();
  t.teardown(() => pool.close());
  return pool;
}

function tlsClient(
  t: { teardown(fn: () => Promise<void>): void },
  port: number,
  tls: TlsPolicy | undefined,
  more: object = {},
): Xapi {
  const xapi = createClient({
    hosts: `127.0.0.1:${port}`,
    user: "root",
    password: PASSWORD,
    transport: "json-rpc",
    clock: new FakeClock(),
    ...(tls === undefined ? {} : { tls }),
    ...more,
  });
  t.teardown(() => xapi.disconnect());
  return xapi;
}

const bare = certificate.fingerprint.replaceAll(":", "").toLowerCase();

t.test(
  "certificates are verified by default; the error has the fingerprint, and no byte was sent",
  async (t) => {
    const pool = await startTlsPool(t);
    const error: unknown = await tlsClient(t, pool.port, undefined)
      .connect()
      .catch((reason: unknown) => reason);
    if (!(error instanceof XoError)) return t.fail("no error");
    t.equal(error.code, "TLS_UNTRUSTED");
    t.equal(error.data["fingerprint"], bare);
    t.same(pool.calls, []);
  },
);

t.test("a certificate authority of the options is trusted", async (t) => {
  const pool = await startTlsPool(t);
  const xapi = tlsClient(t, pool.port, { verify: true, ca: certificate.cert });
  await xapi.connect();
  t.equal(
    ((await xapi.call("VM.get_all")) as string).length,
    300_000,
    "a body of many TLS records arrives whole",
  );
});

t.test(
  "pinned by SHA-256, with or without colons, in any case, several for the members",
  async (t) => {
    const pool = await startTlsPool(t);
    for (const fingerprint of [
      bare,
      certificate.fingerprint,
      [other.fingerprint, certificate.fingerprint],
    ])
      await tlsClient(t, pool.port, { fingerprint }).connect();
    const error: unknown = await tlsClient(t, pool.port, {
      fingerprint: other.fingerprint,
    })
      .connect()
      .catch((reason: unknown) => reason);
    t.match(error, {
      code: "TLS_FINGERPRINT_MISMATCH",
      data: { fingerprint: bare },
    });
  },
);

t.test(
  "trust on first use is opt-in; the first certificate is pinned and another one is rejected",
  async (t) => {
    const pool = await startTlsPool(t);
    const kept: Record<string, string> = {};
    const policy = (known: Record<string, string> = {}): TlsPolicy => ({
      trustOnFirstUse: true,
      known,
      onFingerprint: (address, fingerprint) => (kept[address] = fingerprint),
    });
    await tlsClient(t, pool.port, policy()).connect();
    t.same(kept, { [`127.0.0.1:${pool.port}`]: bare });
    await tlsClient(t, pool.port, policy({ ...kept })).connect();
    await t.rejects(
      tlsClient(
        t,
        pool.port,
        policy({ [`127.0.0.1:${pool.port}`]: other.fingerprint }),
      ).connect(),
      { code: "TLS_FINGERPRINT_MISMATCH" },
    );
  },
);

t.test("insecure accepts any certificate", async (t) => {
  const pool = await startTlsPool(t);
  await tlsClient(t, pool.port, { insecure: true }).connect();
});

/** A proxy that accepts CONNECT with the right credentials. */
async function startProxy(
  t: { teardown(fn: () => Promise<void>): void },
  credentials: string | undefined,
) {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client
      .on("error", () => undefined)
      .once("data", (head) => {
        const text = head.toString();
        const target = /^CONNECT ([^ ]+)/.exec(text)?.[1] ?? "";
        targets.push(target);
        const requested =
          credentials === undefined
            ? ""
            : `Proxy-Authorization: Basic ${Buffer.from(credentials).toString("base64")}`;
        if (!text.includes(requested)) {
          client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
          return;
        }
        const [host = "", port] = target.split(":");
        const upstream = connect(Number(port), host, () => {
          client.write("HTTP/1.1 200 Connection established\r\n\r\n");
          client.pipe(upstream).pipe(client);
        });
        sockets.add(upstream);
        upstream.on("error", () => client.destroy());
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  );
  return { port: (server.address() as AddressInfo).port, targets };
}

t.test("a CONNECT proxy, with and without TLS to the pool", async (t) => {
  const proxy = await startProxy(t, "joe:pr0xy pass");
  const options = {
    proxy: `http://joe:${encodeURIComponent("pr0xy pass")}@127.0.0.1:${proxy.port}`,
  };
  const pool = await startTlsPool(t);
  const secure = tlsClient(t, pool.port, { fingerprint: bare }, options);
  await secure.connect();
  t.equal(((await secure.call("VM.get_all")) as string).length, 300_000);
  t.ok(
    proxy.targets.every((target) => target === `127.0.0.1:${pool.port}`) &&
      proxy.targets.length > 0,
  );
  await t.rejects(tlsClient(t, pool.port, undefined, options).connect(), {
    code: "TLS_UNTRUSTED",
  });

  const plainPool = await new FakeXapi(poolScript()).listen();
  t.teardown(() => plainPool.close());
  await tlsClient(t, 0, undefined, {
    ...options,
    hosts: `http://127.0.0.1:${plainPool.port}`,
  }).connect();
});

t.test(
  "a proxy that rejects the tunnel: a typed error without the password",
  async (t) => {
    const proxy = await startProxy(t, "joe:right");
    const logger = keepingLogger();
    const xapi = tlsClient(t, 1, undefined, {
      proxy: `http://joe:wr0ngpass@127.0.0.1:${proxy.port}`,
      logger,
    });
    void xapi.connect().catch(() => undefined);
    await until(() => xapi.state.name === "backing-off");
    t.match(xapi.state, { cause: { code: "PROXY_FAILED" } });
    t.notMatch(
      JSON.stringify([
        logger.lines,
        xapi.state,
        (xapi.state as { cause?: Error }).cause?.message,
      ]),
      "wr0ngpass",
    );
  },
);

t.test("invalid addresses are rejected when the client is created", (t) => {
  for (const hosts of [
    "ftp://x",
    "http://",
    "https://u:p@h",
    "a b",
    ["https://ok", "://"],
  ])
    t.throws(
      () => createClient({ hosts, user: "u", password: "p" }),
      { code: "CONFIG_INVALID" },
      String(hosts),
    );
  t.throws(
    () =>
      createClient({
        hosts: "h",
        user: "u",
        password: "p",
        proxy: "socks5://x:secretpw@y",
      }),
    { code: "CONFIG_INVALID", message: /^(?!.*secretpw)/ },
  );
  t.equal(
    createClient({
      hosts: ["10.0.0.1:8443", "[::1]:80"],
      user: "u",
      password: "p",
    }).label,
    "u@10.0.0.1",
  );
  t.equal(
    createClient({ hosts: "::1", user: "u", password: "p" }).label,
    "u@::1",
  );
  t.end();
});

t.test(
  "trust on first use: only an accepted fingerprint replaces the pinned one",
  async (t) => {
    const pool = await startTlsPool(t);
    const address = `127.0.0.1:${pool.port}`;
    const learned: Record<string, string> = {};
    const policy = (accepted: readonly string[]): TlsPolicy => ({
      trustOnFirstUse: true,
      known: { [address]: other.fingerprint },
      accepted,
      onFingerprint: (at, fingerprint) => (learned[at] = fingerprint),
    });
    await t.rejects(
      tlsClient(t, pool.port, policy([other.fingerprint])).connect(),
      { code: "TLS_FINGERPRINT_MISMATCH", data: { fingerprint: bare } },
    );
    t.same(learned, {});
    await tlsClient(t, pool.port, policy([certificate.fingerprint])).connect();
    t.same(learned, { [address]: bare });
  },
);

t.test("another process gets the certificate that was verified", async (t) => {
  const pool = await startTlsPool(t);
  const xapi = tlsClient(t, pool.port, { fingerprint: bare });
  await xapi.connect();
  const { url, tls } = await xapi.streamTarget({ path: "/export_raw_vdi" });
  t.equal(url, `https://127.0.0.1:${pool.port}/export_raw_vdi`);
  t.equal(
    new X509Certificate(tls?.certificate ?? "").fingerprint256,
    certificate.fingerprint,
  );
});

const { status: withoutSs } = spawnSync("ss", ["-V"]);

t.test(
  "the kernel probes silent connections, with and without TLS",
  { skip: withoutSs !== 0 && "ss is not installed" },
  async (t) => {
    const plain = await startPool(t);
    const secured = await startTlsPool(t);
    await clientOf(t, plain).connect();
    const tls = { fingerprint: certificate.fingerprint };
    await tlsClient(t, secured.port, tls).connect();
    for (const { port } of [plain, secured]) {
      const to = ["-tnoH", "dst", `127.0.0.1:${port}`];
      const { stdout } = spawnSync("ss", to, { encoding: "utf8" });
      const lines = stdout.trim().split("\n");
      for (const line of lines) t.match(line, /timer:\(keepalive,/);
    }
  },
);
