import { readFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { parseCommandLine } from "../src/command-line.js";
import { ExitCode } from "../src/exit-code.js";
import { runStoreCommand } from "../src/store-command.js";
import { startTestServer } from "./test-server.js";

/** What the command line says to `args`. */
async function xoServer(dataDir: string, line: string, input = "") {
  const invocation = parseCommandLine(
    [...line.split(" "), "--data", dataDir],
    "1",
  );
  if (invocation.kind !== "store") throw new Error(JSON.stringify(invocation));
  return runStoreCommand({ ...invocation, readInput: async () => input });
}

t.test("a user is added, renewed and removed on the store", async (t) => {
  const data = join(t.testdir(), "data");
  t.match(await xoServer(data, "user add ada --stdin", "first\n"), { code: 0 });
  t.match(await xoServer(data, "user add ada"), {
    code: ExitCode.failed,
    text: "user already exists\n",
  });
  t.match((await xoServer(data, "user list")).text, /^ada {2}none {2}\S+\n$/);
  const { text } = await xoServer(data, "user password ada");
  t.match(text, /password: [\w-]{20}\n/, "made, and told");
  await xoServer(data, "user make-admin ada");
  t.match((await xoServer(data, "user list")).text, /^ada {2}admin/);
  await xoServer(data, "user remove ada");
  t.equal((await xoServer(data, "user list")).text, "");
  t.match(await xoServer(data, "user remove ada"), { code: ExitCode.failed });
  t.match(await xoServer(data, "user add eve --stdin", "\n"), {
    code: ExitCode.failed,
  });
});

t.test("a server that runs takes notice", async (t) => {
  const data = join(t.testdir(), "data");
  const store = `{location: ${join(data, "store.db")}, keyFile: ${join(data, "store.key")}, pollMs: 20}`;
  const { connect } = await startTestServer(t, `store: ${store}`);
  const ada = await (await connect()).signIn();
  const token = await ada.ask("token.create", {});
  const other = await connect();
  await other.ask("session.signIn", { token });
  await xoServer(data, "user password admin --stdin", "from the console");
  t.equal(await other.closed, 1001, "tokens and what they opened are gone");
  await xoServer(data, "user add bob --stdin", "bob's");
  const names = async () =>
    ((await ada.ask("user.getAll")) as { name: string }[]).map(
      ({ name }) => name,
    );
  while (!(await names()).includes("bob"));
  await t.resolves((await connect()).signIn("bob", "bob's"));
  await t.resolves((await connect()).signIn("admin", "from the console"));
});

t.test("the audit log is verified", async (t) => {
  const data = join(t.testdir(), "data");
  await xoServer(data, "user add ada --stdin", "hunter22");
  await xoServer(data, "user make-admin ada");
  t.same(await xoServer(data, "audit verify"), {
    code: 0,
    text: "the audit log is intact: 2 entries\n",
  });
  const file = await readFile(join(data, "store.db"));
  t.notOk(file.includes("hunter22"), "no password lies there");
});
