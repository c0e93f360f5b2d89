import { execFile } from "node:child_process";
import {
  cp,
  readdir,
  symlink,
  truncate,
  unlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { XoError } from "@xo-server/model";
import { loadConfig } from "@xo-server/xo-server";
import t, { type Test } from "tap";
import { PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const run = promisify(execFile);

/** A copy of the programs whose compiled code a test may damage. */
async function copyPrograms(t: Test): Promise<string> {
  const folder = t.testdir({ bin: {} });
  const bin = join(folder, "bin");
  await cp(join(root, "bin"), bin, {
    recursive: true,
    filter: (path) => !path.endsWith(".map"),
  });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await symlink(join(root, "package.json"), join(folder, "package.json"));
  return bin;
}

async function compiledFiles(bin: string): Promise<string[]> {
  const files = await readdir(join(bin, "dist"));
  const compiled = files.filter((name) => name.endsWith(".compiled"));
  return compiled.map((name) => join(bin, "dist", name));
}

/** @returns whether V8 has taken the compiled code of each program, in a process of its own */
async function areAccepted(bin: string): Promise<boolean[]> {
  const script = `
    import vm from "node:vm";
    const accepted = [];
    const { Script } = vm;
    vm.Script = class extends Script {
      constructor(...args) {
        super(...args);
        accepted.push(this.cachedDataRejected === false);
      }
    };
    const { syncBuiltinESMExports } = await import("node:module");
    syncBuiltinESMExports();
    const { loadProgram } = await import(${JSON.stringify(join(bin, "load-program.js"))});
    for (const name of ["xo-server", "xo-cli", "xapi-sim"]) loadProgram(name);
    console.log(JSON.stringify(accepted));
    process.exit();`;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await run(process.execPath, args);
  return JSON.parse(stdout) as boolean[];
}

async function printsVersion(bin: string): Promise<boolean> {
  for (const name of ["xo-server", "xo-cli"]) {
    const args = [join(bin, name), "--version"];
    const { stdout } = await run(process.execPath, args);
    if (!/^\d+\.\d+\.\d+\n$/.test(stdout)) return false;
  }
  return true;
}

t.test("programs are loaded with the code that was compiled", async (t) => {
  t.strictSame(await areAccepted(join(root, "bin")), [true, true, true]);
});

t.test("packages that are not bundled are found", async (t) => {
  const cwd = t.testdir();
  const data = ["--data", join(cwd, "data")];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const start = ["start", "--host", "127.0.0.1", "--port", "0", ...data];
  const server = new RunningProgram(t, "xo-server", start, { cwd, env });
  await server.find(/Web server listening on/);
  t.equal(await server.stop("SIGTERM"), 0);
  // SQLite without a thread: by the program itself.
  const list = ["user", "list", ...data];
  const command = new RunningProgram(t, "xo-server", list, { cwd });
  t.equal(await command.ended, 0, command.output);
  t.match(command.output, /^admin +admin/);
});

t.test("programs start without compiled code", async (t) => {
  const bin = await copyPrograms(t);
  const files = await compiledFiles(bin);
  t.equal(files.length, 3);
  for (const file of files) await unlink(file);
  t.ok(await printsVersion(bin));
  t.strictSame(await areAccepted(bin), []);
});

t.test("programs start with compiled code that V8 refuses", async (t) => {
  const bin = await copyPrograms(t);
  for (const file of await compiledFiles(bin)) await truncate(file, 100);
  t.ok(await printsVersion(bin));
  t.strictSame(await areAccepted(bin), [false, false, false]);
});

/** @returns what a server without pools has loaded: modules of Node.js, and files beside the program */
async function loadedByStart(folder: string): Promise<readonly string[]> {
  const script = `
    import { createRequire } from "node:module";
    const { loadProgram } = await import(${JSON.stringify(join(root, "bin/load-program.js"))});
    const { loadConfig, createLoggers, startServer } = loadProgram("xo-server");
    const folder = ${JSON.stringify(folder)};
    const overrides = { host: "127.0.0.1", port: 0, dataDir: folder, logLevel: "silent" };
    const loaded = loadConfig(undefined, overrides, { env: {}, cwd: folder, home: folder });
    const loggers = createLoggers(loaded.config.log);
    const server = await startServer({ ...loaded, loggers, env: {} });
    const files = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify([...process.moduleLoadList, ...files]));
    await server.stop();
    process.exit();`;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await run(process.execPath, args);
  const line = stdout.split("\n").find((text) => text.startsWith("["))!;
  return JSON.parse(line) as string[];
}

t.test(
  "a server without pools loads neither HTTP/2 nor packages that few servers use",
  async (t) => {
    const loaded = await loadedByStart(t.testdir());
    t.ok(loaded.includes("NativeModule http"), "modules of Node.js are listed");
    t.notOk(loaded.includes("NativeModule http2"));
    const files = await readdir(join(root, "bin/dist"));
    for (const name of ["nodemailer", "pg", "ldapts", "openid-client"]) {
      t.ok(files.includes(`${name}.cjs`), `${name} has a file of its own`);
      t.notOk(loaded.some((path) => path.endsWith(`/${name}.cjs`)));
    }
  },
);

/** Problems of many kinds, in unions, lists and sections. */
const INVALID_CONFIG = `htpp: {}
http: { port: "x", hosts: a }
pools:
  - { label: 3, hosts: [], user: u, password: p, tls: { trust: maybe } }
store: { lokation: 3 }
oidc: [1]
`;

t.test(
  "a bundled program, whose schema of the config is compiled, reports the problems that the source does",
  async (t) => {
    const cwd = t.testdir();
    const config = join(cwd, "config.yaml");
    await writeFile(config, INVALID_CONFIG);
    const args = ["start", "--config", config];
    const program = new RunningProgram(t, "xo-server", args, { cwd });
    t.not(await program.ended, 0);
    const problems = problemsOf(config);
    t.ok(problems.length > 5, problems.join());
    for (const problem of problems) t.match(program.output, problem);
  },
);

function problemsOf(config: string): readonly string[] {
  try {
    loadConfig(config);
    return [];
  } catch (error) {
    return (error as XoError).data["problems"] as string[];
  }
}
