import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  statSync,
} from "node:fs";
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { buildPackage, missingBuild, missingProgram } from "./package-tree.js";

t.comment("timeout=300000");

const skip =
  missingBuild() ||
  missingProgram("dpkg-deb") ||
  missingProgram("deb-systemd-helper") ||
  missingProgram("systemd-sysusers") ||
  (process.getuid?.() !== 0 && "installing a package requires root");

/** A folder that dpkg takes for the root of a machine. Its scripts run outside, with $DPKG_ROOT. */
class Machine {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async create(root: string): Promise<Machine> {
    for (const folder of ["var/lib/dpkg/info", "var/lib/dpkg/updates", "etc"])
      await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, "var/lib/dpkg/status"), "");
    return new Machine(root);
  }

  /** Not installed in this folder: nodejs and other dependencies of the package. */
  dpkg(...args: readonly string[]): void {
    execFileSync(
      "dpkg",
      [
        `--root=${this.root}`,
        "--force-script-chrootless",
        "--force-depends",
        "--force-confdef",
        "--force-unsafe-io",
        "--log=/dev/null",
        ...args,
      ],
      { stdio: "pipe" },
    );
  }

  path(name: string): string {
    return join(this.root, name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }
}

t.test(
  "the package installs, upgrades, rolls back and is purged",
  { skip },
  async (t) => {
    // Not the folder of the test: programs that it starts get a new one.
    const output = await mkdtemp(join(tmpdir(), "xo-server-test-"));
    t.teardown(() => rm(output, { recursive: true, force: true }));
    const build = (version: string) =>
      buildPackage(
        "deb",
        "--version",
        version,
        "--compression",
        "none",
        "--output",
        output,
      );
    const [older, newer] = [build("1.0.0"), build("1.1.0")];
    const machine = await Machine.create(join(output, "root"));

    machine.dpkg("--install", older);
    const user = /^xo-server:x:(\d+):(\d+):/m.exec(machine.read("etc/passwd"))!;
    const { uid, gid, mode } = statSync(machine.path("var/lib/xo-server"));
    t.same([uid, gid, mode & 0o777], [Number(user[1]), Number(user[2]), 0o700]);
    const config = statSync(machine.path("etc/xo-server/config.yaml"));
    t.same(
      [config.uid, config.gid, config.mode & 0o777],
      [0, Number(user[2]), 0o640],
    );
    t.ok(isEnabled(machine), "starts with the machine");
    const [pool] = await simulate(t);
    appendFileSync(
      machine.path("etc/xo-server/config.yaml"),
      `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]\n`,
    );
    await t.test("the installed program lists the VMs of a pool", (t) =>
      listVms(t, { machine, version: "1.0.0" }),
    );

    machine.dpkg("--install", newer);
    t.match(
      machine.read("etc/xo-server/config.yaml"),
      "label: P",
      "an upgrade keeps the configuration",
    );
    await t.test("after an upgrade the data are still there", (t) =>
      listVms(t, { machine, version: "1.1.0" }),
    );

    machine.dpkg("--install", older);
    await t.test("after the roll back too", (t) =>
      listVms(t, { machine, version: "1.0.0" }),
    );

    await t.test("a backup of its data is restored", (t) =>
      restore(t, machine),
    );

    machine.dpkg("--remove", "xo-server");
    t.notOk(existsSync(machine.path("usr/lib/xo-server")));
    t.ok(
      existsSync(machine.path("var/lib/xo-server/store.db")),
      "removing keeps the data",
    );
    t.match(
      machine.read("etc/xo-server/config.yaml"),
      "label: P",
      "and the configuration",
    );

    machine.dpkg("--purge", "xo-server");
    t.notOk(existsSync(machine.path("var/lib/xo-server")));
    t.notOk(existsSync(machine.path("etc/xo-server")));
    const left = await readdir(machine.root, {
      recursive: true,
      withFileTypes: true,
    });
    t.same(
      left
        .filter((entry) => entry.isFile() && /xo-server/.test(entry.name))
        .map(({ name }) => name),
      [],
      "nothing is left",
    );
  },
);

t.test("the same tree gives the same bytes", { skip }, async (t) => {
  const output = t.testdir({ a: {}, b: {} });
  const [a, b] = ["a", "b"].map((folder) =>
    readFileSync(
      buildPackage(
        "deb",
        "--compression",
        "none",
        "--output",
        join(output, folder),
      ),
    ),
  );
  t.ok(a!.equals(b!));
});

/** As in docs/server-backup.md: the database and its key, on a machine with nothing else. */
async function restore(t: Test, machine: Machine): Promise<void> {
  const data = machine.path("var/lib/xo-server");
  const backup = `${data}.backup`;
  await rename(data, backup);
  await mkdir(data, { mode: 0o700 });
  for (const file of ["store.db", "store.key"])
    await copyFile(join(backup, file), join(data, file));
  const run = async (...args: readonly string[]) => {
    const program = new RunningProgram(
      t,
      machine.path("usr/lib/xo-server/bin/xo-server"),
      [...args, "--data", data],
    );
    t.equal(await program.ended, 0, program.output);
    return program.output;
  };
  await run("audit", "accept");
  t.match(await run("audit", "verify"), /intact: [1-9]\d* entries/);
  t.match(await run("user", "list"), /^admin +admin/);
  await rm(backup, { recursive: true });
}

/** Whether systemd starts the service with the machine. */
function isEnabled(machine: Machine): boolean {
  const wants = "etc/systemd/system/multi-user.target.wants";
  return lstatSync(machine.path(`${wants}/xo-server.service`)).isSymbolicLink();
}

interface Installation {
  readonly machine: Machine;
  readonly version: string;
}

/**
 * Starts the installed server on the data folder of the machine, and lists objects
 * by its xo-cli.
 */
async function listVms(t: Test, { machine, version }: Installation) {
  const bin = machine.path("usr/lib/xo-server/bin");
  const data = machine.path("var/lib/xo-server");
  const config = machine.path("etc/xo-server/config.yaml");
  const server = new RunningProgram(t, join(bin, "xo-server"), [
    "start",
    "--host",
    "127.0.0.1",
    "--port",
    "0",
    "--data",
    data,
    "--config",
    config,
    "--log-format",
    "console",
  ]);
  const url = await server.find(/Web server listening on (https:\S+)/);
  const fingerprint = await server.find(/SHA-256 fingerprint (\S+),/);
  const password = machine.read("var/lib/xo-server/initial-admin-password");
  const cli = async (...args: readonly string[]) => {
    const program = new RunningProgram(t, join(bin, "xo-cli"), args, {
      cwd: machine.root,
      env: { XO_PASSWORD: password.trim() },
    });
    t.equal(await program.ended, 0, program.output);
    return program.output;
  };
  await cli("register", url, "admin", "--fingerprint", fingerprint);
  const list = async () =>
    JSON.parse(await cli("list", "VM", "--json")) as unknown[];
  while ((await list()).length === 0);
  const versions: unknown = JSON.parse(await cli("version", "--json"));
  t.match(versions, { xoCli: version, xoServer: version });
  t.equal(await server.stop(), 0);
}
