import t, { type Test } from "tap";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { FakeServer, json, TOKEN } from "./fake-server.js";
import { runCli } from "./run-cli.js";

async function start(t: Test) {
  const { key, cert, fingerprint } = makeLoopbackCertificate();
  const server = await FakeServer.start(t, { key, cert });
  server.routes["GET /rest/v0/ping"] = json(200, { result: "pong" });
  return { server, fingerprint };
}

const env = { XO_TOKEN: TOKEN };

t.test("an untrusted certificate is refused, and shown", async (t) => {
  const { server, fingerprint } = await start(t);
  for (const words of [["version"], ["rest", "get", "ping"]]) {
    const args = [...words, "--server", server.url];
    const cli = await runCli(t, args, { env });
    t.equal(cli.code, 4);
    t.match(cli.err, `fingerprint is ${fingerprint} (TLS_UNTRUSTED)`);
    t.match(cli.err, "hint: if this is the fingerprint of the server, pin it");
  }
  t.same([server.calls, server.requests], [[], []], "nothing went out");
});

t.test("it is accepted if it is the named one", async (t) => {
  const { server, fingerprint } = await start(t);
  for (const words of [["version"], ["rest", "get", "ping"]])
    for (const pin of [
      fingerprint,
      fingerprint.replaceAll(":", "").toLowerCase(),
    ]) {
      const args = [...words, "--server", server.url, "--fingerprint", pin];
      t.equal((await runCli(t, args, { env })).code, 0);
    }
});

t.test("another name than the requested one is refused", async (t) => {
  const { server } = await start(t);
  const { fingerprint } = makeLoopbackCertificate();
  const pinned = ["--server", server.url, "--fingerprint", fingerprint];
  const cli = await runCli(t, ["version", ...pinned]);
  t.equal(cli.code, 4);
  t.match(cli.err, "TLS_FINGERPRINT_MISMATCH");
  const both = ["version", ...pinned, "--allow-unauthorized"];
  t.equal((await runCli(t, both)).code, 4, "the pin weighs more");
  t.same(server.calls, []);
});

t.test("--allow-unauthorized accepts any certificate", async (t) => {
  const { server } = await start(t);
  const args = ["version", "--server", server.url, "--allow-unauthorized"];
  t.equal((await runCli(t, args)).code, 0);
});

t.test("a certificate trusted at registration is trusted later", async (t) => {
  const { server, fingerprint } = await start(t);
  for (const trust of [
    ["--fingerprint", fingerprint],
    ["--allow-unauthorized"],
  ]) {
    const { home, code } = await runCli(t, ["register", ...trust, server.url], {
      env,
    });
    t.equal(code, 0);
    t.equal((await runCli(t, ["whoami"], { home })).code, 0);
  }
});

t.test("a server without TLS has an error of its own", async (t) => {
  const server = await FakeServer.start(t);
  const url = server.url.replace("http:", "https:");
  const cli = await runCli(t, ["version", "--server", url]);
  t.equal(cli.code, 4);
  t.match(cli.err, /does not use TLS.*\nhint: use a URL with http:/);
});

t.test("an unknown name is reported", async (t) => {
  const args = ["version", "--server", "http://no-such-host.invalid"];
  const cli = await runCli(t, args);
  t.equal(cli.code, 4);
  t.match(cli.err, "no-such-host.invalid is unreachable");
});
