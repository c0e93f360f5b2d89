import { copyFile, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openStore } from "@xo-server/store";
import { parseCommandLine } from "../src/commands/command-line.js";
import { toStoreOptions } from "../src/boot/start-store.js";
import { loadConfig } from "../src/config/load-config.js";
import { ExitCode } from "../src/lifecycle/exit-code.js";
import type { StoreCommandOptions } from "../src/commands/store-command-types.js";
import { runStoreCommand } from "../src/commands/store-command.js";
import { cheapCosts } from "./cheap-costs.js";
import { startTestServer } from "./test-server.js";

/** What the command line says to `args`. */
async function xoServer(
  dataDir: string,
  line: string,
  input = "",
  options: Partial<StoreCommandOptions> = {},
) {
  const invocation = parseCommandLine(
    [...line.split(" "), "--data", dataDir],
    "1",
  );
  if (invocation.kind !== "store") throw new Error(JSON.stringify(invocation));
  const lines = input.split("\n");
  return runStoreCommand({
    ...invocation,
    env: {},
    storeCosts: cheapCosts,
    ...options,
    readInput: async () => input,
    readSecret: async () => lines.shift() ?? "",
  });
}

/** A data directory with a database, as after a first start. */
async function createData(t: Test, name = "data"): Promise<string> {
  const dataDir = join(t.testdir(), name);
  await createDatabase(dataDir);
  return dataDir;
}

async function createDatabase(dataDir: string): Promise<void> {
  const { config } = loadConfig(
    undefined,
    { dataDir },
    { env: {}, cwd: "/", home: "/" },
  );
  await (
    await openStore({ ...toStoreOptions(config, {}), ...cheapCosts })
  ).close();
}

t.test("commands create neither a database nor a directory", async (t) => {
  const home = t.testdir();
  for (const line of ["audit verify", "user list", "user add ada"])
    t.match(await xoServer(join(home, "typo"), line), {
      code: ExitCode.noInput,
      text: /store\.db does not exist: check --config and --data/,
    });
  t.same(await readdir(home), []);
});

t.test("an empty audit log is intact, with a warning", async (t) => {
  const data = await createData(t);
  t.match(await xoServer(data, "audit verify"), {
    code: 0,
    text: /^audit log intact: 0 entries\nwarning: /,
  });
});

t.test("an older database is accepted on request only", async (t) => {
  const data = await createData(t);
  const file = join(data, "store.db");
  await xoServer(data, "user add ada");
  await copyFile(file, `${file}.old`);
  await xoServer(data, "user add bob");
  await copyFile(`${file}.old`, file);
  t.match(await xoServer(data, "audit verify"), {
    code: ExitCode.failed,
    text: /entry 2: it is missing, 2 were written according to .*audit\.mark/,
  });
  t.match(await xoServer(data, "audit accept"), { code: 0 });
  t.same(await xoServer(data, "audit verify"), {
    code: 0,
    text: "audit log intact: 2 entries\n",
  });
});

t.test("a user is added, renewed and removed on the store", async (t) => {
  const data = await createData(t);
  t.match(await xoServer(data, "user add ada --stdin", "short\n"), {
    code: ExitCode.failed,
    text: /at least 8 characters/,
  });
  t.match(await xoServer(data, "user add ada --stdin", "password 1\n"), {
    code: 0,
  });
  t.match(await xoServer(data, "user add ada"), {
    code: ExitCode.failed,
    text: "user already exists\n",
  });
  t.match((await xoServer(data, "user list")).text, /^ada {2}none {2}\S+\n$/);
  const { text } = await xoServer(data, "user password ada");
  t.match(text, /password: [\w-]{20}\n/, "created, and reported");
  await xoServer(data, "user make-admin ada");
  t.match((await xoServer(data, "user list")).text, /^ada {2}admin/);
  t.match(await xoServer(data, "user remove ada"), {
    code: ExitCode.failed,
    text: /"ada" is the last one with the permission admin who can sign in.*; --force/,
  });
  await xoServer(data, "user remove ada --force");
  t.equal((await xoServer(data, "user list")).text, "");
  t.match(await xoServer(data, "user remove ada"), { code: ExitCode.failed });
  t.match(await xoServer(data, "user add eve --stdin", "\n"), {
    code: ExitCode.failed,
  });
});

t.test("a running server reloads the file", async (t) => {
  const data = join(t.testdir(), "data");
  const store = `{location: ${join(data, "store.db")}, keyFile: ${join(data, "store.key")}, pollMs: 20}`;
  const { connect } = await startTestServer(t, `store: ${store}`);
  const ada = await (await connect()).signIn();
  const token = await ada.request("token.create", {});
  const other = await connect();
  await other.request("session.signIn", { token });
  await xoServer(data, "user password admin --stdin", "from the console");
  t.equal(await other.closed, 1001, "tokens and their sessions are revoked");
  await xoServer(data, "user add bob --stdin", "bob's password");
  const names = async () =>
    ((await ada.request("user.getAll")) as { name: string }[]).map(
      ({ name }) => name,
    );
  while (!(await names()).includes("bob"));
  await t.resolves((await connect()).signIn("bob", "bob's password"));
  await t.resolves((await connect()).signIn("admin", "from the console"));
});

t.test("the audit log is verified", async (t) => {
  const data = await createData(t);
  await xoServer(data, "user add ada --stdin", "hunter22");
  await xoServer(data, "user make-admin ada");
  t.same(await xoServer(data, "audit verify"), {
    code: 0,
    text: "audit log intact: 2 entries\n",
  });
  const file = await readFile(join(data, "store.db"));
  t.notOk(file.includes("hunter22"), "the file contains no password");
});

t.test("a configuration is exported and imported", async (t) => {
  const home = t.testdir();
  const [one, two] = [join(home, "one"), join(home, "two")];
  const file = join(home, "config.xo");
  const words = "correct horse\n";
  await createDatabase(one);
  await createDatabase(two);
  await xoServer(one, "user add ada --stdin", "password 1\n");
  for (const [input, reason] of [
    ["", /no passphrase/],
    ["short\n", /at least 8/],
    ["correct horse\nanother one\n", /do not match/],
  ] as const)
    t.match(await xoServer(one, `config export ${file}`, input), {
      code: ExitCode.failed,
      text: reason,
    });
  const exported = await xoServer(
    one,
    `config export ${file}`,
    words.repeat(2),
  );
  t.match(exported, { code: 0, text: /encrypted/ });
  const bytes = await readFile(file);
  t.equal((await stat(file)).mode & 0o777, 0o600);
  t.notMatch(bytes.toString("latin1"), "password_hash");
  t.match(await xoServer(one, `config export ${file}`, words.repeat(2)), {
    code: ExitCode.failed,
    text: /config\.xo: file already exists \(--force replaces it\)/,
  });
  t.match(
    await xoServer(one, `config export ${file} --force`, words.repeat(2)),
    { code: 0 },
  );
  t.notSame(await readFile(file), bytes, "replaced");
  t.same((await readdir(home)).toSorted(), ["config.xo", "one", "two"]);
  t.match(await xoServer(two, `config import ${file} --yes`, "wrong words\n"), {
    code: ExitCode.failed,
    text: /wrong passphrase/,
  });
  const env = { XO_CONFIG_PASSPHRASE: "correct horse" };
  const imported = (line: string, answer?: string) =>
    xoServer(two, `config import ${line}`, "", {
      env,
      readLine:
        answer === undefined
          ? undefined
          : async (question: string) => {
              t.match(question, /replaces 0 users, 0 servers and 0 jobs/);
              return answer;
            },
    });
  t.match(await imported(file), {
    code: ExitCode.failed,
    text: /replaces 0 users, 0 servers and 0 jobs: confirm it with --yes/,
  });
  t.match(await imported(file, "y"), { text: "the import was aborted\n" });
  t.match(await imported(`${file} --yes`), {
    code: ExitCode.failed,
    text: /no user with the permission admin who can sign in/,
  });
  t.match(await imported(`${file} --allow-no-admin`, "yes"), { code: 0 });
  t.match((await xoServer(two, "user list")).text, /^ada/);
  t.match(await imported(`${file}.none`, "yes"), {
    code: ExitCode.failed,
    text: /config\.xo\.none: no such file or directory/,
  });
  const piped: Uint8Array[] = [];
  const output = async (chunk: Uint8Array) => void piped.push(chunk);
  t.match(await xoServer(one, "config export -", "", { env, output }), {
    code: 0,
    isOutputUsed: true,
  });
  const back = "config import - --yes --allow-no-admin";
  t.match(await xoServer(two, back, "", { env, input: toStream(piped) }), {
    code: 0,
  });
  t.match((await xoServer(two, "audit list")).text, /config import/);
});

t.test(
  "sizes of backup repositories of an imported configuration are read again",
  async (t) => {
    const data = await createData(t);
    const { config } = loadConfig(
      undefined,
      { dataDir: data },
      { env: {}, cwd: "/", home: "/" },
    );
    const options = { ...toStoreOptions(config, {}), ...cheapCosts };
    const before = await openStore(options);
    const { id } = await before.backupRepositories.add({
      name: "nightly",
      url: "file:///mnt/backups",
      credentials: {},
      state: { inspectedAt: Date.now(), stored: 1_000, indexed: 7 },
    });
    await before.close();
    const file = join(data, "config.xo");
    const env = { XO_CONFIG_PASSPHRASE: "correct horse" };
    await xoServer(data, `config export ${file}`, "", { env });
    const line = `config import ${file} --yes --allow-no-admin`;
    t.match(await xoServer(data, line, "", { env }), { code: 0 });
    const after = await openStore(options);
    t.same(
      after.backupRepositories.get(id)?.state,
      { stored: 1_000, indexed: 7 },
      "the server reads the sizes of a repository that was not inspected",
    );
    await after.close();
  },
);

t.test("the audit log is listed and pruned", async (t) => {
  const data = await createData(t);
  for (const name of ["ada", "bob", "eve"])
    await xoServer(data, `user add ${name}`);
  await xoServer(data, "user remove bob");
  const { text } = await xoServer(data, "audit list --limit 2");
  t.match(
    text,
    /^4 {2}\S+Z {2}- {2}command line {2}user remove {2}- {2}success\n3 /,
  );
  const json = await xoServer(data, "audit list --json --limit 1");
  t.match(JSON.parse(json.text), { seq: 4, operation: "user remove" });
  const year = new Date().getUTCFullYear();
  t.match(await xoServer(data, `audit prune --before ${year - 1}-01-01`), {
    code: 0,
    text: /no entries to delete/,
  });
  t.match(await xoServer(data, `audit prune --before ${year + 1}-01-01`), {
    code: ExitCode.failed,
    text: /in the future/,
  });
  const now = new Date(Date.now()).toISOString();
  t.match(await xoServer(data, `audit prune --before ${now}`), {
    code: 0,
    text: /^4 entries deleted/,
  });
  t.match(await xoServer(data, "audit verify"), {
    code: 0,
    text: /1 entries, 4 earlier entries pruned/,
  });
  t.match(parseCommandLine(["audit", "prune"], "1"), {
    kind: "print",
    code: ExitCode.usage,
  });
  t.match(parseCommandLine(["audit", "prune", "--before", "soon"], "1"), {
    kind: "print",
    code: ExitCode.usage,
  });
});

async function* toStream(chunks: readonly Uint8Array[]) {
  yield* chunks;
}

t.test("a server with SQLite has no other to hand over to", async (t) => {
  const dataDir = await createData(t);
  for (const line of ["leave", "leave --force"]) {
    const { text, code } = await xoServer(dataDir, line);
    t.match(text, /with SQLite there is one server/);
    t.equal(code, ExitCode.failed);
  }
});
