import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import t from "tap";
import { FakeServer } from "./fake-server.js";
import { runCli } from "./run-cli.js";

t.test("a wrong command line ends with 2, on stderr", async (t) => {
  for (const args of [
    [],
    ["lsit"],
    ["list", "--limit", "many"],
    ["list", "a", "b"],
    ["list", "--fields", "a,,b"],
    ["call"],
    ["rest", "fetch", "vms"],
    ["get"],
    ["completion", "tcsh"],
    ["version", "--server", "ftp://x"],
    ["version", "--server", "http://"],
    ["version", "--server", "https://user:secret@host"],
  ]) {
    const cli = await runCli(t, args);
    t.equal(cli.code, 2, args.join(" "));
    t.equal(cli.out, "");
    t.not(cli.err, "");
    t.notMatch(cli.err, "secret");
  }
});

t.test("a method without call names the command", async (t) => {
  const cli = await runCli(t, ["remote.create", "name=nightly"]);
  t.equal(cli.code, 2);
  t.match(cli.err, /unknown command[^]*xo-cli call remote\.create/);
});

t.test("help and version are not errors", async (t) => {
  const help = await runCli(t, ["--help"]);
  t.equal(help.code, 0);
  t.match(help.out, /^ {2}register .*\n[^]*Exit codes: 0 success/m);
  t.equal((await runCli(t, ["rest", "get", "--help"])).code, 0);
  t.match((await runCli(t, ["call", "--help"])).out, "json:...");
  t.match((await runCli(t, ["--version"])).out, /^\d+\.\d+\.\d+\n$/);
});

t.test("versions of the program and the server", async (t) => {
  const { url } = await FakeServer.start(t);
  const cli = await runCli(t, ["version", "--server", url, "--json"]);
  t.match(cli.json, { xoCli: String, xoServer: "5.207.2", server: url });
  const alone = await runCli(t, ["version"]);
  t.equal(alone.code, 0);
  t.match(alone.out, /^xo-cli \S+\n$/);
});

t.test("without a server it explains how to register one", async (t) => {
  const cli = await runCli(t, ["list", "vm"]);
  t.equal(cli.code, 3);
  t.match(cli.err, "hint: use xo-cli register URL, or --server URL");
});

t.test("a URL may be abbreviated", async (t) => {
  const server = await FakeServer.start(t);
  for (const url of [
    server.url,
    server.url.slice(0, -1),
    `${server.url}api/`,
    server.url.replace("http", "ws"),
  ])
    t.equal((await runCli(t, ["version", "--server", url])).code, 0, url);
});

function hasShell(name: string): boolean {
  return spawnSync(name, ["-c", "true"]).status === 0;
}

t.test("bash completes commands, options and types", async (t) => {
  const { out, code } = await runCli(t, ["completion", "bash"]);
  t.equal(code, 0);
  const file = join(t.testdir({ script: out }), "script");
  const complete = (...words: string[]): string[] =>
    execFileSync("bash", [
      "-c",
      `source ${file}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _xo_cli; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
      "xo-cli",
      ...words,
    ])
      .toString()
      .split("\n")
      .slice(0, -1);
  t.same(complete("un"), ["unregister"]);
  t.same(complete("list", "VM-t"), ["VM-template"]);
  t.same(complete("--json", "watch", "--fi"), [
    "--filter",
    "--fields",
    "--fingerprint",
  ]);
  t.same(complete("rest", "p"), ["post", "put", "patch"]);
  t.same(complete("rest", "get", "--o"), ["--output"]);
  t.same(complete("restore", "o"), ["over"]);
  t.same(complete("backup", "download", "db-1", "--fo"), ["--format"]);
  t.same(complete("repository", "verify", "--a"), [
    "--all",
    "--allow-unauthorized",
  ]);
});

for (const shell of ["zsh", "fish"])
  t.test(
    `${shell} accepts its completion script`,
    { skip: hasShell(shell) ? false : `there is no ${shell} here` },
    async (t) => {
      const { out } = await runCli(t, ["completion", shell]);
      const file = join(t.testdir({ script: out }), "script");
      t.equal(spawnSync(shell, ["-n", file]).status, 0);
    },
  );

t.test("the scripts of zsh and fish contain every command", async (t) => {
  for (const shell of ["zsh", "fish"]) {
    const { out } = await runCli(t, ["completion", shell]);
    for (const word of ["register", "whoami", "VM-template", "patch", "output"])
      t.match(out, word);
  }
});
