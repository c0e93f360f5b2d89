import { appendFileSync, cpSync, existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import t, { type Test } from "tap";
import { simulate } from "../simulated.js";
import { Chroot } from "./chroot.js";
import { buildPackage, missingBuild, missingProgram } from "./package-tree.js";

t.comment("timeout=900000");

const UNIT = "usr/lib/systemd/system/xo-server.service";

const skip =
  missingBuild() ||
  missingProgram("debootstrap") ||
  missingProgram("unshare") ||
  (process.getuid?.() !== 0 && "a chroot requires root");

t.test(
  "the package works in a bare Debian: installed, upgraded, rolled back, removed, purged",
  { skip },
  async (t) => {
    const output = await mkdtemp(join(tmpdir(), "xo-server-test-"));
    t.teardown(() => rm(output, { recursive: true, force: true }));
    const debian = createDebian(t, join(output, "debian"));
    if (debian === undefined) return;
    const install = (version: string) => {
      const options = ["--version", version, "--compression", "none"];
      const deb = buildPackage("deb", ...options, "--output", output);
      const name = `tmp/${basename(deb)}`;
      cpSync(deb, debian.path(name));
      // As apt does if all dependencies are installed; it also configures them.
      debian.run("dpkg", "--force-confdef", "--install", `/${name}`);
    };

    install("1.0.0");
    const unit = readFileSync(debian.path(UNIT), "utf8");
    const programs = [...unit.matchAll(/^Exec\w+=(\S+)/gm)].map(
      ([, program]) => program!,
    );
    t.equal(programs.length, 2);
    for (const program of programs)
      t.ok(existsSync(debian.path(program)), `the unit runs ${program}`);
    const [pool] = await simulate(t);
    appendFileSync(
      debian.path("etc/xo-server/config.yaml"),
      `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]\n`,
    );
    await t.test("installed", (t) => listVms(t, debian, "1.0.0"));
    install("1.1.0");
    await t.test("upgraded", (t) => listVms(t, debian, "1.1.0"));
    install("1.0.0");
    await t.test("rolled back", (t) => listVms(t, debian, "1.0.0"));

    debian.run("dpkg", "--remove", "xo-server");
    t.notOk(existsSync(debian.path("usr/lib/xo-server/bin")));
    t.ok(existsSync(debian.path("var/lib/xo-server/store.db")));
    debian.run("dpkg", "--purge", "xo-server");
    t.notOk(existsSync(debian.path("var/lib/xo-server")));
    t.notOk(existsSync(debian.path("etc/xo-server")));
  },
);

function createDebian(t: Test, root: string): Chroot | undefined {
  try {
    return Chroot.create(root);
  } catch (error) {
    const output = String((error as { stdout?: unknown }).stdout);
    const reason = output.trim().split("\n").at(-1);
    t.skip(`no chroot: ${reason}`, () => undefined);
    return undefined;
  }
}

/** Starts the installed server as its user, and lists objects by the installed xo-cli. */
async function listVms(t: Test, debian: Chroot, version: string) {
  const listen = ["--host", "127.0.0.1", "--port", "0"];
  const format = ["--log-format", "console"];
  const server = debian.start(t, "xo-server", "start", ...listen, ...format);
  const url = await server.find(/Web server listening on (https:\S+)/);
  const fingerprint = await server.find(/SHA-256 fingerprint (\S+),/);
  const data = debian.path("var/lib/xo-server");
  const password = readFileSync(join(data, "initial-admin-password"), "utf8");
  const cli = (...args: readonly string[]) =>
    debian.run("env", `XO_PASSWORD=${password.trim()}`, "xo-cli", ...args);
  cli("register", url, "admin", "--fingerprint", fingerprint);
  const list = () => JSON.parse(cli("list", "VM", "--json")) as unknown[];
  while (list().length === 0);
  const versions: unknown = JSON.parse(cli("version", "--json"));
  t.match(versions, { xoCli: version, xoServer: version });
  await server.kill();
}
