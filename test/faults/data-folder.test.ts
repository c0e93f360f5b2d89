import { spawnSync } from "node:child_process";
import {
  cp,
  readFile,
  readdir,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");

/** Namespaces of its own, in which a program may mount file systems. */
const UNSHARE = ["unshare", "--map-root-user", "--mount", "sh", "-c"];
const [unshare, ...checkArgs] = [...UNSHARE, "mount -t tmpfs none /mnt"];
const skip =
  spawnSync(unshare, checkArgs).status === 0
    ? false
    : "no namespaces for mounts (unshare)";
const MIB = 2 ** 20;
/** Documented: the database is missing or outdated, unavailable, the configuration is invalid. */
const REFUSALS = [66, 69, 78];

function start(t: Test, cwd: string, within: readonly string[] = []) {
  const data = join(cwd, "data");
  const args = ["start", "--host", "127.0.0.1", "--port", "0", "--data", data];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  return new RunningProgram(t, "xo-server", args, { cwd, env, within });
}

async function listening(server: RunningProgram): Promise<string> {
  return server.find(/Web server listening on (http:\S+)/);
}

const createUser = (api: ApiSession, name: string) =>
  api.call("user.create", { email: name, password: "a password" });

async function namesOf(api: ApiSession): Promise<string[]> {
  const users = (await api.request("user.getAll")) as { email: string }[];
  return users.map(({ email }) => email);
}

/** A data folder with ten users, of a server that was killed. */
async function prepare(t: Test): Promise<string> {
  const cwd = t.testdir();
  const server = start(t, cwd);
  const api = await ApiSession.open(t, await listening(server));
  for (let i = 0; i < 10; i++)
    await api.request("user.create", {
      email: `u${i}`,
      password: "a password",
    });
  // Without the last entries, a damaged database would not be detected.
  const mark = join(cwd, "data", "audit.mark");
  const marked = async () =>
    Number.parseInt(await readFile(mark, "utf8").catch(() => "0"), 10);
  while ((await marked()) < 10) await pause(50);
  await server.stop("SIGKILL");
  return cwd;
}

t.test(
  "a full disk refuses changes and loses none",
  { skip, ...LIMIT },
  async (t) => {
    const cwd = t.testdir();
    const data = join(cwd, "data");
    const mount =
      'mkdir "$0" && mount -t tmpfs -o size=24m,mode=700 none "$0" && exec "$@"';
    const server = start(t, cwd, [...UNSHARE, mount, data]);
    const url = await listening(server);
    const api = await ApiSession.open(t, url);
    t.notOk((await createUser(api, "before")).error);

    const filler = join(`/proc/${server.child.pid}/root`, data, "filler");
    await fill(filler);
    const created: string[] = [];
    for (;;) {
      const name = `full${created.length}`;
      const { error } = await createUser(api, name);
      if (error !== undefined) {
        t.match(error, { data: { code: "STORE_UNAVAILABLE" } });
        break;
      }
      created.push(name);
    }
    t.match(await (await fetch(`${url}/health`)).json(), {
      store: "unavailable",
    });
    t.ok((await namesOf(api)).includes("before"), "reads are answered");

    await rm(filler);
    while ((await createUser(api, "after")).error !== undefined)
      await pause(100);
    const names = await namesOf(api);
    t.same(
      ["before", ...created, "after"].filter((name) => !names.includes(name)),
      [],
    );
    t.equal(await server.stop(), 0);
  },
);

/** Writes until the file system is full. */
async function fill(file: string): Promise<void> {
  for (const bytes of [MIB, 4096, 1]) {
    const piece = Buffer.alloc(bytes);
    try {
      for (;;) await writeFile(file, piece, { flag: "a" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

t.test(
  "a folder that is read-only is refused and stays as it was",
  { skip, ...LIMIT },
  async (t) => {
    const cwd = await prepare(t);
    const data = join(cwd, "data");
    const mount =
      'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
    const refused = start(t, cwd, [...UNSHARE, mount, data]);
    t.ok(REFUSALS.includes(Number(await refused.ended)), refused.output);
    t.notMatch(refused.output, / {4}at /, "a sentence, not a stack");

    const server = start(t, cwd);
    const api = await ApiSession.open(t, await listening(server));
    t.equal(
      (await namesOf(api)).filter((name) => /^u\d$/.test(name)).length,
      10,
    );
    t.equal(await server.stop(), 0);
  },
);

t.test(
  "a torn file is repaired, or refused with a reason",
  LIMIT,
  async (t) => {
    const cwd = await prepare(t);
    const files = (await readdir(join(cwd, "data"), { recursive: true })).map(
      String,
    );
    for (const name of files.toSorted()) {
      const original = await stat(join(cwd, "data", name));
      if (!original.isFile() || original.size < 2) continue;
      const copy = join(cwd, `torn-${name.replaceAll("/", "-")}`);
      await cp(join(cwd, "data"), join(copy, "data"), { recursive: true });
      await truncate(join(copy, "data", name), Math.floor(original.size / 2));
      const server = start(t, copy);
      const outcome = await Promise.race([
        server.ended,
        listening(server).catch(() => server.ended),
      ]);
      if (typeof outcome === "string" && outcome.startsWith("http")) {
        const api = await ApiSession.open(t, outcome);
        const users = (await namesOf(api)).filter((user) => /^u\d$/.test(user));
        t.equal(users.length, 10, `${name}: all users`);
        await server.stop("SIGKILL");
      } else {
        t.ok(
          REFUSALS.includes(Number(outcome)),
          `${name}: exit code ${outcome}\n${server.output}`,
        );
        t.notMatch(
          server.output,
          / {4}at /,
          `${name}: a sentence, not a stack`,
        );
      }
    }
  },
);

t.test(
  "a database whose -wal file was deleted is refused",
  LIMIT,
  async (t) => {
    const cwd = await prepare(t);
    await rm(join(cwd, "data", "store.db-wal"));
    const refused = start(t, cwd);
    t.equal(await refused.ended, 66, refused.output);
    t.match(
      refused.output,
      /store\.db lacks the latest changes .*xo-server audit accept/,
    );
    t.notMatch(refused.output, / {4}at /, "a sentence, not a stack");
  },
);
