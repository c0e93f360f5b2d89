import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { FakeServer, PASSWORD, RpcError, TOKEN, USER } from "./fake-server.js";
import { Cli, runCli } from "./run-cli.js";

function configOf(home: string): string {
  return join(home, ".config", "xo-cli", "config.json");
}

t.test("registering stores a token, readable by the owner only", async (t) => {
  const server = await FakeServer.start(t);
  const cli = await runCli(t, ["register", server.url, USER.email, PASSWORD]);
  t.equal(cli.code, 0, cli.err);
  t.equal(cli.out, `signed in to ${server.url} as ada@example.org\n`);
  t.match(cli.err, /a password on the command line is visible/);
  const path = configOf(cli.home);
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.match(JSON.parse(readFileSync(path, "utf8")), {
    server: server.url,
    token: TOKEN,
    clientId: String,
    servers: { [server.url]: { token: TOKEN, user: USER.email } },
  });
  t.match(server.created, [
    { client: { id: String }, description: /^xo-cli on / },
  ]);
  t.notMatch(cli.out + cli.err, TOKEN);
  t.notMatch(cli.out + cli.err, PASSWORD);
});

t.test("later calls authenticate with the token", async (t) => {
  const server = await FakeServer.start(t);
  const { home } = await runCli(
    t,
    ["register", server.url, USER.email, PASSWORD],
    {},
  );
  const cli = await runCli(t, ["whoami"], { home });
  t.equal(cli.out, `ada@example.org (admin) on ${server.url}, user u1\n`);
  t.match(server.calls.at(-2), {
    method: "session.signIn",
    params: { token: TOKEN },
  });
});

t.test("on a terminal it prompts, and hides the password", async (t) => {
  const server = await FakeServer.start(t);
  const cli = new Cli(t, ["register", server.url], { columns: 80 });
  await cli.until(({ err }) => err.includes("User: "));
  cli.stdin.write(`${USER.email}\n`);
  await cli.until(({ err }) => err.includes("Password: "));
  cli.stdin.write(`${PASSWORD}x\u007f\r`);
  t.equal(await cli.ended, 0, cli.err);
  t.same(cli.stdin.rawModes, [true, false], "the terminal echoes again");
  t.notMatch(cli.out + cli.err, PASSWORD);
});

t.test("Ctrl-C at the password prompt exits and stores nothing", async (t) => {
  const server = await FakeServer.start(t);
  const args = ["register", server.url, USER.email];
  const cli = new Cli(t, args, { columns: 80 });
  await cli.until(({ err }) => err.includes("Password: "));
  cli.stdin.write("half\u0003");
  t.equal(await cli.ended, 130);
  t.same(cli.stdin.rawModes, [true, false]);
  t.throws(() => statSync(configOf(cli.home)));
});

t.test("the password can come from stdin or XO_PASSWORD", async (t) => {
  const server = await FakeServer.start(t);
  const args = ["register", server.url, USER.email];
  const piped = await runCli(t, args, { input: `${PASSWORD}\n` });
  t.equal(piped.code, 0, piped.err);
  const env = { XO_PASSWORD: PASSWORD };
  t.equal((await runCli(t, args, { env })).code, 0);
  const none = await runCli(t, args);
  t.equal(none.code, 2);
  t.match(none.err, /no password \(USAGE\)/);
  const noTerminal = await runCli(t, ["register", server.url]);
  t.equal(noTerminal.code, 2);
  t.match(noTerminal.err, /no terminal/);
});

t.test("a wrong password exits with 3 and a message", async (t) => {
  const server = await FakeServer.start(t);
  const args = ["--json", "register", server.url, USER.email];
  const cli = await runCli(t, args, { env: { XO_PASSWORD: "wrong" } });
  t.equal(cli.code, 3);
  t.match(JSON.parse(cli.err), {
    error: { code: "CREDENTIALS_INVALID", message: "invalid credentials" },
    exitCode: 3,
  });
  t.equal(cli.out, "");
});

t.test("a token will do as well", async (t) => {
  const server = await FakeServer.start(t);
  const env = { XO_TOKEN: TOKEN };
  t.equal((await runCli(t, ["register", server.url], { env })).code, 0);
  const given = await runCli(t, ["register", "--token", TOKEN, server.url]);
  t.equal(given.code, 0);
  t.equal(server.created.length, 0, "no other is made");
  const wrong = await runCli(t, ["register", "--token", "old", server.url]);
  t.equal(wrong.code, 3);
});

t.test("an older server gets no description of the token", async (t) => {
  const server = await FakeServer.start(t);
  server.methods["token.create"] = (params) => {
    server.created.push(params);
    if ("client" in params) throw new RpcError(10, "invalid parameters");
    return TOKEN;
  };
  const args = ["register", "--expires-in", "1 hour", server.url, USER.email];
  const cli = await runCli(t, args, { env: { XO_PASSWORD: PASSWORD } });
  t.equal(cli.code, 0, cli.err);
  t.match(server.created, [{ client: {} }, { expiresIn: "1 hour" }]);
  t.same(server.created[1], { expiresIn: "1 hour" });
});

t.test("several servers: the last is the default, until changed", async (t) => {
  const home = t.testdir({});
  const [one, other] = [await FakeServer.start(t), await FakeServer.start(t)];
  const env = { XO_TOKEN: TOKEN };
  for (const { url } of [one, other])
    await runCli(t, ["register", url], { home, env });
  const all = await runCli(t, ["servers", "--json"], { home });
  const row = { user: USER.email, trust: "none (plain http)" };
  t.same(all.json, [
    { server: one.url, ...row, default: false },
    { server: other.url, ...row, default: true },
  ]);
  t.notMatch(all.out, TOKEN);
  await runCli(t, ["servers", "--use", one.url], { home });
  t.match((await runCli(t, ["whoami"], { home })).out, one.url);
  const there = ["whoami", "--server", other.url];
  t.match((await runCli(t, there, { home })).out, other.url);
});

t.test("empty environment variables are the same as none", async (t) => {
  const home = t.testdir({});
  const server = await FakeServer.start(t);
  const empty = { XO_TOKEN: "", XO_SERVER: "", XO_PASSWORD: "" };
  await runCli(t, ["register", server.url], { home, env: { XO_TOKEN: TOKEN } });
  const cli = await runCli(t, ["whoami"], { home, env: empty });
  t.equal(cli.code, 0, cli.err);
  t.match(cli.out, USER.email);
  const args = ["register", server.url, USER.email];
  const input = { home, env: empty, input: `${PASSWORD}\n` };
  t.equal((await runCli(t, args, input)).code, 0, "the password is read");
});

t.test("unregistering deletes the token at both ends", async (t) => {
  const home = t.testdir({});
  const server = await FakeServer.start(t);
  await runCli(t, ["register", server.url], { home, env: { XO_TOKEN: TOKEN } });
  const cli = await runCli(t, ["unregister"], { home });
  t.equal(cli.code, 0, cli.err);
  t.same(server.deleted, [TOKEN]);
  t.notMatch(readFileSync(configOf(home), "utf8"), TOKEN);
  t.equal((await runCli(t, ["whoami"], { home })).code, 3);
  t.equal((await runCli(t, ["unregister"], { home })).code, 2);
});

t.test("unregistering works when the server is down", async (t) => {
  const home = t.testdir({});
  const server = await FakeServer.start(t);
  await runCli(t, ["register", server.url], { home, env: { XO_TOKEN: TOKEN } });
  await server.stop();
  const cli = await runCli(t, ["unregister"], { home });
  t.equal(cli.code, 0);
  t.match(cli.err, /the token was not revoked at the server/);
});

t.test(
  "the configuration file of Xen Orchestra's xo-cli is used",
  async (t) => {
    const home = t.testdir({});
    const server = await FakeServer.start(t);
    mkdirSync(join(home, ".config", "xo-cli"), { recursive: true });
    const path = configOf(home);
    const old = { server: server.url, token: TOKEN, clientId: "c", other: 1 };
    writeFileSync(path, JSON.stringify(old), { mode: 0o644 });
    const cli = await runCli(t, ["whoami"], { home });
    t.equal(cli.code, 0, cli.err);
    t.match(cli.err, /others could read/);
    t.equal(statSync(path).mode & 0o777, 0o600);
    await runCli(t, ["register", server.url], {
      home,
      env: { XO_TOKEN: TOKEN },
    });
    t.match(JSON.parse(readFileSync(path, "utf8")), {
      clientId: "c",
      other: 1,
    });
  },
);

t.test("an invalid file is reported without quoting it", async (t) => {
  const home = t.testdir({
    ".config": { "xo-cli": { "config.json": `{"token":"${TOKEN}"` } },
  });
  const cli = await runCli(t, ["whoami"], { home });
  t.equal(cli.code, 5);
  t.notMatch(cli.err, TOKEN);
});

t.test("a revoked token ends with exit code 3", async (t) => {
  const server = await FakeServer.start(t);
  const cli = await runCli(t, ["whoami", "--server", server.url], {
    env: { XO_TOKEN: "revoked" },
  });
  t.equal(cli.code, 3);
  t.match(cli.err, `hint: xo-cli register ${server.url}`);
});
