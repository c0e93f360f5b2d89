import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { root, RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { missingProgram } from "./package-tree.js";
import { fixedPort } from "@xo-server/store/conformance";

t.comment("timeout=120000");

const PASSWORD = "correct horse battery";
/** Of a client on another machine: only 127.0.0.1 is trusted. */
const CLIENT = "127.0.0.2";
/** Headers by which a client pretends to be another one, without TLS. */
const FORGED = {
  "x-forwarded-for": "192.0.2.6",
  "x-forwarded-proto": "http",
  "x-forwarded-host": "evil.example",
  forwarded: "for=192.0.2.6;proto=http;host=evil.example",
};
const page = readFileSync(join(root, "docs/proxies.md"), "utf8");

/** A program of Debian, and how the example of the page is made to run in a folder. */
interface Proxy {
  readonly program: string;
  readonly file: string;
  readonly args: (config: string) => readonly string[];
  readonly adapt: (example: string, place: Place) => string;
}

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly upstream: number;
}

const proxies: Readonly<Record<string, Proxy>> = {
  nginx: {
    program: "nginx",
    file: "nginx.conf",
    args: (config) => ["-c", config, "-e", "stderr"],
    adapt: (example, { folder, port }) =>
      [
        `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}`,
        `http { access_log off;`,
        ...["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
          (name) => `${name}_temp_path ${folder}/${name};`,
        ),
        example.replace("listen 443", `listen 127.0.0.1:${port}`),
        "}",
      ].join("\n"),
  },
  caddyfile: {
    program: "caddy",
    file: "Caddyfile",
    args: (config) => ["run", "--config", config, "--adapter", "caddyfile"],
    adapt: (example, { port }) =>
      `{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_sni localhost\n}\n${example.replace("xo.example.org", `localhost:${port}`)}`,
  },
  haproxy: {
    program: "haproxy",
    file: "haproxy.cfg",
    args: (config) => ["-db", "-f", config],
    adapt: (example, { port }) =>
      example.replace("bind :443", `bind 127.0.0.1:${port}`),
  },
};

for (const [language, proxy] of Object.entries(proxies)) {
  const { program } = proxy;
  const skip = missingProgram(program) || missingProgram("openssl");
  t.test(`the example for ${program}`, { skip }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "xo-server-proxy-"));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const port = await fixedPort();
    const upstream = await startServer(t);
    await createCertificate(folder);
    const [, example = ""] =
      new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page) ?? [];
    const config = proxy
      .adapt(example, { folder, port, upstream })
      .replaceAll("/etc/ssl/", `${folder}/`)
      .replaceAll("127.0.0.1:9000", `127.0.0.1:${upstream}`);
    await writeFile(join(folder, proxy.file), config);
    startProxy(t, proxy, folder);
    await checkProxy(t, `https://localhost:${port}`);
  });
}

async function checkProxy(t: Test, url: string): Promise<void> {
  while ((await send(url, "/health").catch(() => undefined))?.status !== 200)
    await new Promise((resolve) => setImmediate(resolve));
  const credentials = JSON.stringify({ username: "admin", password: PASSWORD });
  for (const headers of [{}, FORGED]) {
    const login = await send(url, "/auth/login", credentials, headers);
    t.equal(login.status, 200, login.body);
    t.match(
      login.cookie,
      /; Secure/i,
      "the server knows that the client uses https",
    );
  }

  const cli = async (...args: readonly string[]) => {
    const program = new RunningProgram(t, "xo-cli", args, {
      cwd: home,
      env: { XO_PASSWORD: PASSWORD },
    });
    t.equal(await program.ended, 0, program.output);
    return program.output;
  };
  // Another `testdir` would remove the data folder of the running server.
  const home = join(t.testdirName, "home");
  await mkdir(home);
  await cli("register", "--allow-unauthorized", url, "admin");
  const audit = JSON.parse(
    await cli("call", "--json", "audit.getRecords", "limit=50"),
  ) as AuditPage;
  const signIns = audit.records.filter(
    ({ event, subject }) =>
      event === "session.signIn" && subject.userIp !== "127.0.0.1",
  );
  t.strictSame(
    signIns.map(({ subject }) => subject.userIp),
    [CLIENT, CLIENT],
    "the audit log has the address of the client",
  );
  const disks = async () =>
    JSON.parse(await cli("list", "VDI", "--json")) as { id: string }[];
  while ((await disks()).length === 0);

  // Larger than what proxies accept by default: the server itself refuses it.
  const large = await sendUntilAnswered(url, "x".repeat(4 * 1024 * 1024));
  t.ok(JSON.parse(large.body), "an error page of the proxy is HTML");
}

/** A server that refuses a body closes the connection while it arrives: the answer can be lost (RFC 9112, 9.6). */
async function sendUntilAnswered(url: string, body: string): Promise<Answer> {
  for (;;)
    try {
      return await send(url, "/rest/v0/users", body);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!["ECONNRESET", "EPIPE"].includes(code)) throw error;
    }
}

interface AuditPage {
  readonly records: readonly {
    readonly event: string;
    readonly subject: { readonly userIp: string };
  }[];
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly cookie: string;
}

function send(
  url: string,
  path: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      {
        method: body === undefined ? "GET" : "POST",
        headers: { "content-type": "application/json", ...headers },
        localAddress: CLIENT,
        rejectUnauthorized: false,
      },
      (response) => {
        let text = "";
        response
          .setEncoding("utf8")
          .on("data", (part: string) => (text += part));
        response.on("end", () =>
          resolve({
            status: response.statusCode!,
            body: text,
            cookie: String(response.headers["set-cookie"]),
          }),
        );
      },
    );
    sent.on("error", reject);
    // The proxy may close the connection between the answer and the end of the body, when
    // the request does not listen any more.
    sent.on("socket", (socket) => socket.on("error", reject));
    sent.end(body);
  });
}

/** @returns its port */
async function startServer(t: Test): Promise<number> {
  const [pool] = await simulate(t);
  const cwd = t.testdir({
    "config.yaml": [
      "http: { host: 127.0.0.1, port: 0, trustedProxies: [127.0.0.1] }",
      `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
    ].join("\n"),
  });
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", ["start"], { cwd, env });
  const url = await server.find(/Web server listening on (http:\S+)/);
  return Number(new URL(url).port);
}

async function createCertificate(folder: string): Promise<void> {
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=localhost",
      "-addext",
      "subjectAltName=DNS:localhost",
      "-keyout",
      join(folder, "xo.key"),
      "-out",
      join(folder, "xo.crt"),
    ],
    { stdio: "ignore" },
  );
  await writeFile(
    join(folder, "xo.pem"),
    readFileSync(join(folder, "xo.crt"), "utf8") +
      readFileSync(join(folder, "xo.key"), "utf8"),
  );
}

function startProxy(t: Test, { program, file, args }: Proxy, folder: string) {
  const child = spawn(program, args(join(folder, file)), {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (output += String(text)));
  child.once("exit", (code) => {
    if (code !== null && code !== 0) t.fail(`${program} ended:\n${output}`);
  });
  t.teardown(async () => {
    if (child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill();
    await ended;
  });
}
