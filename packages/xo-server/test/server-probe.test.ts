import { X509Certificate } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { XoError } from "@xo-server/model";
import type { HostProbe } from "@xo-server/xen-api";
import t, { type Test } from "tap";
import type { OperationContext } from "../src/methods/definition/define-operation.js";
import { serverProbe } from "../src/methods/pool/server-probe.js";
import { HostProber } from "../src/probes/host-prober.js";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { startTestServer } from "./test-server.js";

/** A host behind a certificate of its own that answers every POST so. */
async function startHost(t: Test, answer: object) {
  const { key, cert } = makeLoopbackCertificate();
  const bodies: string[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      bodies.push(body);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 0, ...answer }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const fingerprint = new X509Certificate(cert).fingerprint256
    .replaceAll(":", "")
    .toLowerCase();
  return { host: `127.0.0.1:${port}`, fingerprint, bodies };
}

const failure = (message: string, ...data: string[]) => ({
  error: { code: 1, message, data },
});

t.test("a host is probed before it is added", async (t) => {
  const { host, fingerprint, bodies } = await startHost(
    t,
    failure("SESSION_INVALID", "OpaqueRef:NULL"),
  );
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const probe = await admin.request("server.probe", { host });
  t.match(probe, {
    address: host,
    isReachable: true,
    certificate: {
      fingerprint,
      isTrusted: false,
      isSelfSigned: true,
      distrust: "DEPTH_ZERO_SELF_SIGNED_CERT",
    },
  });
  t.notOk(Object.hasOwn(probe as object, "problem"));
  t.equal(bodies.length, 1);
  t.notMatch(bodies[0], /login/);
  t.match(await admin.request("audit.getRecords", { limit: 1 }), {
    records: [{ event: "server.probe" }],
  });
});

t.test(
  "a member names its coordinator; another program is not a pool",
  async (t) => {
    const { connect } = await startTestServer(t);
    const admin = await (await connect()).signIn();
    const member = await startHost(t, failure("HOST_IS_SLAVE", "127.0.0.9"));
    t.match(await admin.request("server.probe", { host: member.host }), {
      isReachable: true,
      problem: "member",
      coordinator: /^https:\/\/127\.0\.0\.9:/,
    });
    const other = await startHost(t, failure("secrets of an intranet"));
    const answer = await admin.request("server.probe", { host: other.host });
    t.match(answer, { problem: "not-a-xapi" });
    t.notMatch(JSON.stringify(answer), "intranet");
    t.match(await admin.request("server.probe", { host: "127.0.0.1:1" }), {
      isReachable: false,
      problem: "refused",
    });
  },
);

t.test("only admins may probe, and only valid addresses", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  await admin.request("user.create", { email: "ada", password: "ada" });
  const ada = await (await connect()).signIn("ada", "ada");
  const host = "127.0.0.1:1";
  t.match(await ada.call("server.probe", { host }), { error: { code: 2 } });
  for (const bad of ["ftp://x", "http://", "a b", "root@host", ""])
    t.match(await admin.call("server.probe", { host: bad }), {
      error: { code: 10 },
    });
});

const error = (
  code: ConstructorParameters<typeof XoError>[0],
  reason?: string,
) => new XoError(code, reason === undefined ? {} : { reason });

t.test("obstacles of a reboot have texts", async (t) => {
  let found: HostProbe = { address: "x:443" };
  const call = probeWith(async () => found);
  for (const [cause, problem, isReachable] of [
    [error("UNREACHABLE", "ENOTFOUND"), "name-not-found", false],
    [error("UNREACHABLE", "EHOSTUNREACH"), "unreachable", false],
    [error("UNREACHABLE", "ETIMEDOUT"), "timed-out", false],
    [error("CONNECTION_TIMEOUT"), "timed-out", false],
    [error("CONNECTION_REFUSED"), "refused", false],
    [error("PROXY_FAILED", "407"), "proxy", false],
    [error("CONNECTION_LOST", "ERR_SSL_WRONG_VERSION_NUMBER"), "not-tls", true],
    [error("CONNECTION_LOST", "ECONNRESET"), "not-a-xapi", true],
    [error("BAD_ANSWER"), "not-a-xapi", true],
  ] as const) {
    found = { address: "x:443", error: cause };
    t.match(await call(), { problem, isReachable }, problem);
  }
});

t.test("at most a few are verified at a time", async (t) => {
  const waiting: (() => void)[] = [];
  const call = probeWith(async () => {
    await new Promise<void>((done) => waiting.push(done));
    return { address: "x:443" };
  });
  const first = [call(), call(), call(), call()];
  await t.rejects(call(), { code: "QUEUE_FULL" });
  for (const done of waiting) done();
  await Promise.all(first);
  const last = call();
  waiting.at(-1)!();
  await t.resolves(last);
});

/** Calls server.probe with a fake network. */
function probeWith(probe: () => Promise<HostProbe>) {
  const prober = new HostProber({} as never, probe);
  const services = { probes: { prober, client: undefined } };
  const context = { services } as unknown as OperationContext;
  return async () => serverProbe.handler({ host: "x" } as never, context);
}
