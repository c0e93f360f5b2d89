import { X509Certificate } from "node:crypto";
import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { request as secureRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type SecureVersion } from "node:tls";
import { makeSelfSigned } from "@xo-server/certificate";
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { startRedirectServer } from "../src/api/http/redirect-server.js";
import { startTls } from "../src/api/tls/start-tls.js";
import { createLoggers } from "../src/log/logger.js";
import { FakeClock } from "./fake-clock.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

function createFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "xo-tls-"));
  t.teardown(() => {
    rmSync(folder, { recursive: true });
  });
  return folder;
}

function createPair() {
  const { cert, key } = makeSelfSigned({
    commonName: "xo.example",
    names: ["xo.example"],
  });
  return { cert, key, fingerprint: new X509Certificate(cert).fingerprint256 };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

function call(url: string, method = "GET", body?: object): Promise<Answer> {
  const send = url.startsWith("https:") ? secureRequest : request;
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    send(url, { method, headers, rejectUnauthorized: false }, (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode!, headers: answer.headers });
    })
      .on("error", reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The fingerprint of what is shown; the code of the error where nothing is agreed on. */
function shake(host: string, version?: SecureVersion): Promise<string> {
  const [address, port] = host.split(":");
  return new Promise((resolve) => {
    const options = { host: address, port: Number(port) };
    const versions =
      version === undefined ? {} : { minVersion: version, maxVersion: version };
    const socket = connect(
      // OpenSSL offers what is old at level 0 only.
      {
        ...options,
        ...versions,
        rejectUnauthorized: false,
        ciphers: "DEFAULT@SECLEVEL=0",
      },
      () => {
        resolve(socket.getPeerX509Certificate()!.fingerprint256);
        socket.destroy();
      },
    );
    socket.on("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message);
    });
  });
}

const SELF_SIGNED = "http: { tls: { selfSigned: true } }";

t.test(
  "a certificate is created once, and only the owner can read its key",
  async (t) => {
    const dataDir = createFolder(t);
    const yaml = `dataDir: ${dataDir}\n${SELF_SIGNED}`;
    const first = await startTestServer(t, yaml);
    const fingerprint = await shake(first.host);
    t.match(first.lines.join(""), `SHA-256 fingerprint ${fingerprint}`);
    t.equal(statSync(join(dataDir, "tls.key")).mode & 0o777, 0o600);
    await first.stop();
    const second = await startTestServer(t, yaml);
    t.equal(await shake(second.host), fingerprint, "clients pin it");
  },
);

t.test("all interfaces use TLS 1.2 or newer", async (t) => {
  const dataDir = createFolder(t);
  const { host } = await startTestServer(
    t,
    `dataDir: ${dataDir}\n${SELF_SIGNED}`,
  );
  t.match(await shake(host, "TLSv1.2"), /^[0-9A-F:]{95}$/);
  t.match(await shake(host, "TLSv1.3"), /^[0-9A-F:]{95}$/);
  t.match(await shake(host, "TLSv1.1"), /ERR_SSL|ECONNRESET/);
  const socket = new WebSocket(`wss://${host}/api/`, {
    rejectUnauthorized: false,
  });
  await new Promise((resolve) => socket.once("open", resolve));
  socket.close();
  const login = await call(`https://${host}/auth/login`, "POST", {
    username: "admin",
    password: ADMIN_PASSWORD,
  });
  t.match(
    String(login.headers["set-cookie"]),
    /; HttpOnly; SameSite=Strict; Secure/,
  );
  t.equal(login.headers["strict-transport-security"], undefined);
  await t.rejects(call(`http://${host}/`), "not in the open");
});

t.test("a configured certificate is used, with HSTS if enabled", async (t) => {
  const folder = createFolder(t);
  const { cert, key, fingerprint } = createPair();
  writeFileSync(join(folder, "crt"), cert);
  writeFileSync(join(folder, "key"), key);
  const tls = `certificate: ${folder}/crt, key: ${folder}/key, hstsSeconds: 3600`;
  const { host } = await startTestServer(
    t,
    `dataDir: ${folder}\nhttp: { tls: { ${tls} } }`,
  );
  t.equal(await shake(host), fingerprint);
  const { headers } = await call(`https://${host}/health`);
  t.equal(headers["strict-transport-security"], "max-age=3600");
});

async function startWithFiles(t: Test) {
  const folder = createFolder(t);
  const [certificate, key] = [join(folder, "crt"), join(folder, "key")];
  const write = (pair: { cert?: string; key?: string }) => {
    if (pair.cert !== undefined) writeFileSync(certificate, pair.cert);
    if (pair.key !== undefined) writeFileSync(key, pair.key);
  };
  const pair = createPair();
  write(pair);
  const clock = new FakeClock();
  const signals = new EventEmitter();
  const lines: string[] = [];
  const logger = createLoggers({
    destination: { write: (line) => lines.push(line) },
  }).named("x");
  const config = { selfSigned: false, minVersion: "TLSv1.2", redirectPort: 0 };
  const tls = await startTls({
    http: {
      host: "::1",
      tls: { ...config, certificate, key, hstsSeconds: 0 },
    } as never,
    dataDir: folder,
    clock,
    logger,
    signals,
  });
  t.teardown(() => tls!.stop());
  const inUse: string[] = [];
  const wake: (() => void)[] = [];
  tls!.attach({
    setSecureContext({ cert }) {
      inUse.push(new X509Certificate(cert as string).fingerprint256);
      for (const one of wake.splice(0)) one();
    },
  });
  /** Time passes until it holds. */
  const until = async (holds: () => boolean) => {
    for (let i = 0; i < 500 && !holds(); i++) {
      clock.pass(5_000);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    t.ok(holds());
  };
  return { pair, write, signals, lines, inUse, until, tls: tls! };
}

t.test("changed files are reloaded; invalid ones are ignored", async (t) => {
  const { pair, write, lines, inUse, until } = await startWithFiles(t);
  t.same(inUse, [pair.fingerprint]);
  const next = createPair();
  write({ cert: next.cert });
  await until(() =>
    /the previous one stays in use.*does not match/.test(lines.join("")),
  );
  t.same(inUse, [pair.fingerprint], "half a change is none");
  write({ key: next.key });
  await until(() => inUse.length === 2);
  t.equal(inUse[1], next.fingerprint);
  write({ cert: "rubbish" });
  await until(() => /stays.*PEM|stays.*no start line/i.test(lines.join("")));
  t.equal(inUse.length, 2);
});

t.test("SIGHUP reloads certificates", async (t) => {
  const { write, signals, inUse, tls } = await startWithFiles(t);
  const next = createPair();
  write(next);
  signals.emit("SIGHUP");
  while (inUse.length < 2)
    await new Promise((resolve) => setTimeout(resolve, 2));
  t.equal(inUse[1], next.fingerprint);
  tls.stop();
  t.equal(signals.listenerCount("SIGHUP"), 0);
});

t.test("an unusable certificate is reported at start", async (t) => {
  const folder = createFolder(t);
  const one = createPair();
  const other = createPair();
  writeFileSync(join(folder, "crt"), one.cert);
  writeFileSync(join(folder, "key"), other.key);
  const start = (certificate: string) =>
    startTls({
      http: {
        host: "::1",
        tls: { certificate, key: join(folder, "key"), minVersion: "TLSv1.2" },
      } as never,
      dataDir: folder,
      clock: new FakeClock(),
      logger: createLoggers({ level: "silent" }).named("x"),
    });
  await t.rejects(start(join(folder, "crt")), {
    code: "CONFIG_INVALID",
    message: /does not match/,
  });
  await t.rejects(start(join(folder, "absent")), {
    message: /absent: no such file/,
  });
});

t.test(
  "browsers are redirected from http to https, programs get an error",
  async (t) => {
    const server = await startRedirectServer({
      host: "127.0.0.1",
      port: 0,
      securePort: 9443,
      headersTimeoutMs: 1000,
      maxHeaderBytes: 4096,
      maxConnections: 10,
    });
    t.teardown(() => server.stop());
    const url = `http://127.0.0.1:${server.port}`;
    const got = await call(`${url}/docs?a=1`);
    t.equal(got.status, 308);
    t.equal(got.headers["location"], "https://127.0.0.1:9443/docs?a=1");
    t.equal((await call(`${url}/auth/login`, "POST", {})).status, 403);
    const odd = await new Promise((resolve) => {
      request(url, { headers: { host: "evil@x/y" } }, (answer) => {
        resolve(answer.statusCode);
      }).end();
    });
    t.equal(odd, 400);
  },
);
