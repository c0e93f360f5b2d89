import { createServer, type AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { hostName } from "../src/index.js";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { PASSWORD, probe, startPool } from "./client.js";
import { FakeClock, until } from "./fake-clock.js";
import {
  FakeXapi,
  httpAnswer,
  poolScript,
  type FakeReply,
} from "./fake-xapi.js";

const certificate = makeLoopbackCertificate();
const invalid: FakeReply = { error: ["SESSION_INVALID", "OpaqueRef:NULL"] };

/** A host that answers session.get_uuid with the reply. */
const asked = (reply: FakeReply) =>
  poolScript(({ method }) =>
    method === "session.get_uuid" ? reply : undefined,
  );

async function startTlsPool(t: Test, reply: FakeReply = invalid) {
  const pool = await new FakeXapi(asked(reply), certificate).listen();
  t.teardown(() => pool.close());
  return pool;
}

t.test(
  "a XAPI is identified with its certificate, without sending a password",
  async (t) => {
    const pool = await startTlsPool(t);
    const found = await probe({ host: `127.0.0.1:${pool.port}` });
    t.match(found, {
      address: `127.0.0.1:${pool.port}`,
      certificate: {
        fingerprint: certificate.fingerprint.replaceAll(":", "").toLowerCase(),
        subject: "CN=localhost",
        issuer: "CN=localhost",
        names: "DNS:localhost, IP Address:127.0.0.1",
        isSelfSigned: true,
        distrust: "DEPTH_ZERO_SELF_SIGNED_CERT",
      },
    });
    t.equal(found.error, undefined);
    const { validFrom, validTo } = found.certificate!;
    t.ok(validFrom < Date.now() && Date.now() < validTo);
    t.same(pool.methods, ["session.get_uuid"]);
    t.notMatch(pool.calls.map(({ body }) => body).join(""), PASSWORD);
  },
);

t.test("a member names its coordinator as an address", async (t) => {
  for (const [said, coordinator] of [
    ["127.0.0.9", /^https:\/\/127\.0\.0\.9:\d+$/],
    ["evil.example/path?x", undefined],
  ] as const) {
    const pool = await startTlsPool(t, { error: ["HOST_IS_SLAVE", said] });
    const found = await probe({ host: `127.0.0.1:${pool.port}` });
    t.match(found.error, { code: "HOST_IS_SLAVE" });
    if (coordinator === undefined) t.equal(found.coordinator, undefined);
    else t.match(found.coordinator, coordinator);
  }
});

t.test("a host that supports only XML-RPC, over plain HTTP", async (t) => {
  const pool = await startPool(
    t,
    poolScript(({ path }) =>
      path === "/jsonrpc"
        ? { raw: httpAnswer("<html>", "text/html", "404 Not Found") }
        : invalid,
    ),
  );
  const found = await probe({ host: `http://127.0.0.1:${pool.port}` });
  t.equal(found.error, undefined);
  t.equal(found.certificate, undefined);
});

t.test(
  "the certificate of another program than XAPI is returned",
  async (t) => {
    const pages: readonly [string, FakeReply, string][] = [
      ["a page", { raw: httpAnswer("<html>hello", "text/html") }, "BAD_ANSWER"],
      [
        "an error",
        { raw: httpAnswer("no", "text/html", "404 Not Found") },
        "HTTP_STATUS",
      ],
      [
        "a flood",
        { raw: httpAnswer("x".repeat(1_000_000)) },
        "ANSWER_TOO_LARGE",
      ],
      ["silence and a goodbye", { cut: true }, "CONNECTION_LOST"],
    ];
    for (const [name, reply, code] of pages) {
      const pool = await startTlsPool(t, reply);
      const found = await probe({ host: `127.0.0.1:${pool.port}` });
      t.match(found.error, { code }, name);
      t.type(found.certificate?.fingerprint, "string");
    }
  },
);

t.test("an unreachable host has a typed error", async (t) => {
  const plain = createServer((socket) => socket.end("220 mail.example\r\n"));
  await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
  t.teardown(() => plain.close());
  const { port } = plain.address() as AddressInfo;
  const errorOf = async (host: string) => (await probe({ host })).error;
  t.match(await errorOf(`127.0.0.1:${port}`), {
    code: "CONNECTION_LOST",
    data: { reason: /^ERR_SSL|EPROTO/ },
  });
  t.match(await errorOf("127.0.0.1:1"), { code: "CONNECTION_REFUSED" });
  t.match(await errorOf("unknown.invalid"), {
    code: "UNREACHABLE",
    data: { reason: /ENOTFOUND|EAI_AGAIN/ },
  });
  await t.rejects(probe({ host: "http://a:b@c" }), {
    code: "CONFIG_INVALID",
  });
});

t.test("a silent host is limited by the timeout and the signal", async (t) => {
  const clock = new FakeClock();
  const pool = await startTlsPool(t, { silent: true });
  const host = `127.0.0.1:${pool.port}`;
  const waiting = probe({ host, clock, timeoutMs: 5_000 });
  await until(() => pool.calls.length === 1);
  clock.advance(5_000);
  t.match((await waiting).error, { code: "CALL_TIMEOUT" });
  const controller = new AbortController();
  const aborted = probe({ host, clock, signal: controller.signal });
  await until(() => pool.calls.length === 2);
  controller.abort();
  t.match((await aborted).error, { code: "ABORTED" });
});

t.test("hostName formats addresses as errors do", async (t) => {
  t.equal(hostName("xen1"), "xen1:443");
  t.equal(hostName("http://[::1]:8080"), "[::1]:8080");
});
