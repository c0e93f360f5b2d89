import { readFileSync } from "node:fs";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { FakeServer, json, RpcError, TOKEN } from "./fake-server.js";
import { Cli, runCli, type CliOptions } from "./run-cli.js";

async function start(t: Test) {
  const server = await FakeServer.start(t);
  const env = { XO_SERVER: server.url, XO_TOKEN: TOKEN };
  const call = (args: readonly string[], options: CliOptions = {}) =>
    runCli(t, ["call", ...args], { env, ...options });
  return { server, env, call };
}

t.test("values are converted like xo-cli of Xen Orchestra", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.set"] = () => true;
  const cli = await call([
    ...["vm.set", "id=x=y", "auto_poweron=true", "secureBoot=false"],
    ...["CPUs=json:4", 'tags=json:["a"]', "limit=1", "empty="],
  ]);
  t.equal(cli.out, "true\n", cli.err);
  t.same(server.calls.at(-1)!.params, {
    id: "x=y",
    auto_poweron: true,
    secureBoot: false,
    CPUs: 4,
    tags: ["a"],
    limit: "1",
    empty: "",
  });
});

t.test("invalid values are reported before any request", async (t) => {
  const { server, call } = await start(t);
  for (const word of ["nonsense", "=1", "a=json:{", "@"]) {
    const cli = await call(["vm.set", word]);
    t.equal(cli.code, 2, word);
  }
  t.equal(server.calls.length, 0);
});

t.test("a secret is read from stdin instead of an argument", async (t) => {
  const { server, call } = await start(t);
  server.methods["server.add"] = () => "s1";
  const words = ["server.add", "host=h", "username=root", "password=@-"];
  const cli = await call(words, { input: "hunter 2\nmore\n" });
  t.equal(cli.out, "s1\n", cli.err);
  t.same(server.calls.at(-1)!.params, {
    host: "h",
    username: "root",
    password: "hunter 2",
  });
  const before = server.calls.length;
  const none = await call(words, { input: "" });
  t.match(none, { code: 2, err: /no password/ });
  const two = await call([...words, "label=@-"], { input: "a\nb\n" });
  t.match(two, { code: 2, err: /only one value/ });
  t.notOk(
    server.calls.slice(before).some(({ method }) => method === "server.add"),
  );
});

t.test("refused texts are converted to the types of the method", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.set"] = ({ CPUs }) => {
    if (typeof CPUs === "number") return true;
    throw new RpcError(10, "invalid parameters", { reason: "CPUs" });
  };
  server.methods["system.getMethodsInfo"] = () => ({
    "vm.set": {
      params: {
        name_label: { type: "string" },
        CPUs: { type: "integer" },
        affinityHost: { anyOf: [{ type: "string" }, { type: "null" }] },
        list: { type: "array" },
        options: { type: "object" },
      },
    },
  });
  const cli = await call([
    ...["vm.set", "CPUs=4", "name_label=12", "affinityHost=null"],
    ...["list=a,b", 'options={"a":1}'],
  ]);
  t.equal(cli.code, 0, cli.err);
  t.same(server.calls.at(-1)!.params, {
    CPUs: 4,
    name_label: "12",
    affinityHost: "null",
    list: ["a", "b"],
    options: { a: 1 },
  });
});

t.test("a unique name can replace an id", async (t) => {
  const { server, call } = await start(t);
  const names: Record<string, string[]> = {
    "db 1": ["i1"],
    twice: ["i2", "i3"],
  };
  server.methods["xo.getAllObjects"] = ({ filter }) => {
    const { name_label, type } = filter as Record<string, string>;
    const ids = type === "VM" ? (names[name_label!] ?? []) : [];
    return Object.fromEntries(ids.map((id) => [id, { id }]));
  };
  server.methods["vm.start"] = () => true;
  await call(["vm.start", "id=db 1", "host=unknown"]);
  t.same(server.calls.at(-1), {
    method: "vm.start",
    params: { id: "i1", host: "unknown" },
  });
  const cli = await call(["vm.start", "vm=twice"]);
  t.equal(cli.code, 2);
  t.match(cli.err, /2 objects of type VM are named "twice"[^]*i2, i3/);
});

t.test("failures of a bulk are listed, times are dates", async (t) => {
  const { server, call } = await start(t);
  server.methods["bulk.run"] = () => {
    const error = { code: "VM_BAD_POWER_STATE", message: "VM is paused" };
    const result = { failed: [{ id: "vm-1", error }] };
    throw new RpcError(-32000, "vm.start: 1 of 2 failed", { result });
  };
  t.match((await call(["bulk.run"])).err, "\n  vm-1: VM is paused");
  server.methods["schedule.preview"] = () => [1_795_397_400_000];
  t.match((await call(["schedule.preview"])).out, /^- "?2026-11-2/);
  server.methods["alarm.get"] = () => ({
    since: 1_795_363_041_104,
    size: 2e12,
  });
  t.match((await call(["alarm.get"])).out, /since: "?2026-11-2[^]*size: 2000/);
});

t.test("a name cannot reach a prototype", async (t) => {
  const { server, call } = await start(t);
  server.methods["x.y"] = () => true;
  await call(["x.y", '__proto__=json:{"a":1}']);
  t.same(Object.keys(server.calls.at(-1)!.params), ["__proto__"]);
});

t.test("an unknown method is reported with the nearest one", async (t) => {
  const { server, call } = await start(t);
  server.methods["system.getMethodsInfo"] = () => ({
    "host.start": {},
    "vm.start": {},
  });
  for (const words of [["vm.strat"], ["vm.strat", "--help"]]) {
    const cli = await call(words);
    t.equal(cli.code, 1);
    t.match(cli.err, "error: method not found: vm.strat (UNKNOWN_METHOD)");
    t.match(cli.err, "hint: the nearest method is vm.start; see xo-cli meth");
  }
});

t.test("errors of a parameter are reported", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.set"] = () => {
    const errors = [{ instancePath: "/CPUs", message: "must be integer" }];
    throw new RpcError(10, "invalid parameters", { errors });
  };
  const cli = await call(["vm.set", "CPUs=4"]);
  t.equal(cli.code, 1);
  t.match(cli.err, "invalid parameters: /CPUs must be integer (INVALID_PARA");
  t.match(cli.err, "hint: see xo-cli methods vm.set;");
  server.methods["vm.set"] = () => {
    throw new RpcError(10, "invalid parameters", { reason: "no such type: X" });
  };
  const other = await call(["vm.set"]);
  t.match(other.err, "error: invalid parameters: no such type: X (INVALID");
});

t.test("an error of XAPI keeps its code", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.start"] = () => {
    const data = { code: "HOST_DISABLED", params: ["h"] };
    throw new RpcError(-32000, "HOST_DISABLED(h)", data);
  };
  const cli = await call(["vm.start", "--json"]);
  t.equal(cli.code, 1);
  t.match(JSON.parse(cli.err), {
    error: { code: "HOST_DISABLED", data: { params: ["h"] } },
    exitCode: 1,
  });
});

t.test("a file is downloaded to the path of the argument", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.export"] = () => ({ $getFrom: "/api/t0ken/a%20b.xva" });
  server.routes["GET /api/t0ken/a%20b.xva"] = (_request, response) => {
    response.writeHead(200, { "content-length": 4 }).end("data");
  };
  const home = t.testdir({});
  const file = join(home, "a.xva");
  const cli = await call(["vm.export", "vm=x", `@=${file}`]);
  t.equal(cli.code, 0, cli.err);
  t.equal(readFileSync(file, "utf8"), "data");
  t.same(server.calls.at(-1)!.params, { vm: "x" });
  t.equal((await call(["vm.export", "vm=x"])).out, "data", "or to stdout");
  const onTerminal = await call(["vm.export", "vm=x"], { columns: 80 });
  t.equal(onTerminal.code, 2, "but not to a terminal");
  const nowhere = await call(["vm.export", `@${home}/no/such`]);
  t.equal(nowhere.code, 5);
});

t.test("an incomplete download is an error", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.export"] = () => ({ $getFrom: "/api/t" });
  server.routes["GET /api/t"] = (_request, response) => {
    response.writeHead(200, { "content-length": 400 }).write("data");
    setImmediate(() => response.destroy());
  };
  const cli = await call(["vm.export", "vm=x"]);
  t.equal(cli.code, 4);
  t.match(cli.err, "CONNECTION_LOST");
});

t.test("a file is uploaded, and the answer shown", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.import"] = () => ({ $sendTo: "/api/t" });
  server.routes["POST /api/t"] = (request, response, body) => {
    response.end(`${request.headers["content-length"]} ${body}`);
  };
  const dir = t.testdir({ "a.xva": "data" });
  const cli = await call(["vm.import", `@=${join(dir, "a.xva")}`]);
  t.equal(cli.out, "4 data\n", cli.err);
  const absent = await call(["vm.import", `@=${join(dir, "b.xva")}`]);
  t.equal(absent.code, 5);
  t.equal((await call(["vm.import"])).code, 2);
});

t.test("a configuration is replaced after a confirmation only", async (t) => {
  const { server, env, call } = await start(t);
  server.methods["xo.importConfig"] = () => ({ $sendTo: "/api/t" });
  server.routes["POST /api/t"] = (_request, response) => {
    response.end('{"result":true}');
  };
  const file = join(t.testdir({ "a.xoconf": "data" }), "a.xoconf");
  const args = ["xo.importConfig", "passphrase=correct horse", `@=${file}`];
  const calls = () =>
    server.calls.filter(({ method }) => method === "xo.importConfig").length;
  const piped = await call(args, { input: "yes\n" });
  t.equal(piped.code, 2, "without a terminal there is no prompt");
  t.match(piped.err, "--yes");
  const type = async (typed: string) => {
    const cli = new Cli(t, ["call", ...args], { env, columns: 80 });
    await cli.until(({ err }) => err.includes('Type "yes" to continue'));
    t.match(cli.err, server.url);
    cli.stdin.write(`${typed}\n`);
    return cli.ended;
  };
  t.equal(await type("y"), 1);
  t.equal(calls(), 0);
  t.equal(await type("yes"), 0);
  t.equal(calls(), 1);
  const confirmed = await call([...args, "--yes"]);
  t.equal(confirmed.out, "true\n", confirmed.err);
  t.equal(calls(), 2);
});

t.test(
  "the metadata of a pool are replaced after a confirmation only",
  async (t) => {
    const { server, env, call } = await start(t);
    server.methods["metadataBackup.restore"] = () => true;
    const calls = () =>
      server.calls.filter(({ method }) => method === "metadataBackup.restore");
    const args = ["metadataBackup.restore", "id=repository/backup"];
    const piped = await call(args, { input: "yes\n" });
    t.equal(piped.code, 2, "without a terminal there is no prompt");
    t.match(piped.err, "--yes");
    const checked = await call([...args, "dryRun=true"]);
    t.equal(checked.out, "true\n", "a check changes nothing");
    t.equal(calls().length, 1);
    const type = async (typed: string) => {
      const cli = new Cli(t, ["call", ...args, "pool=p-1"], {
        env,
        columns: 80,
      });
      await cli.until(({ err }) => err.includes('Type "yes" to continue'));
      t.match(cli.err, "replaces the database of the pool p-1");
      cli.stdin.write(`${typed}\n`);
      return cli.ended;
    };
    t.equal(await type("no"), 1);
    t.equal(calls().length, 1);
    t.equal(await type("yes"), 0);
    t.equal(calls().length, 2);
    const confirmed = await call([...args, "--yes"]);
    t.equal(confirmed.out, "true\n", confirmed.err);
    t.equal(calls().length, 3);
  },
);

t.test("of an import the id is printed", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.import"] = () => ({ $sendTo: "/api/t" });
  server.routes["POST /api/t"] = (_request, response) => {
    response.end('{"jsonrpc":"2.0","id":0,"result":"new-vm"}');
  };
  const file = join(t.testdir({ "a.xva": "data" }), "a.xva");
  const cli = await call(["vm.import", `@=${file}`]);
  t.equal(cli.out, "new-vm\n", cli.err);
  const json = await call(["vm.import", `@=${file}`, "--json"]);
  t.same(json.json, { file, result: "new-vm" });
});

t.test("an upload that is refused early ends with the reason", async (t) => {
  const { server, call } = await start(t);
  const size = 64 * 2 ** 20;
  const file = join(t.testdir({ "a.xva": "" }), "a.xva");
  await truncate(file, size);
  server.methods["vm.import"] = () => ({ $sendTo: "/api/t" });
  // Like xo-server: the connection stays open while the client is sending.
  const text = '{"error":"not an XVA","data":{"code":"TEST"}}';
  server.earlyRoutes["POST /api/t"] = (request, response) => {
    request.once("data", () => {
      response.writeHead(422, {
        "content-type": "application/json",
        "content-length": text.length,
      });
      response.write(text);
    });
  };
  const cli = await call(["vm.import", `@=${file}`]);
  t.match(cli.err, /not an XVA \(TEST\)/);
});

t.test("a task is followed to its end, with a bar on a terminal", async (t) => {
  const { server, env } = await start(t);
  server.methods["vm.migrate"] = () => ({ taskId: "0a-b" });
  let asked = 0;
  const properties = { name: "migrate db-1" };
  server.routes["GET /rest/v0/tasks/0a-b"] = (...all) => {
    const task = { id: "0a-b", status: "pending", progress: 50, properties };
    const done = { ...task, status: "success", result: { id: "new" } };
    json(200, ++asked < 3 ? task : done)(...all);
  };
  const delays: number[] = [];
  const delay = async (ms: number) => {
    delays.push(ms);
  };
  const options = { env, delay };
  const cli = await runCli(t, ["call", "vm.migrate", "--json"], options);
  t.match(cli.json, { status: "success", result: { id: "new" } }, cli.err);
  t.same(delays, [100, 200]);
  t.match(server.requests[0], { cookie: `authenticationToken=${TOKEN}` });
  asked = 0;
  const seen = await runCli(t, ["call", "vm.migrate"], {
    ...options,
    columns: 80,
  });
  t.match(seen.err, /\[█{12}·{12}\] {2}50% task 0a-b migrate db-1/);
  const alone = await runCli(t, ["call", "vm.migrate", "--no-wait"], options);
  t.equal(alone.out, "taskId: 0a-b\n");
});

t.test("a progress bar follows the server's progress", async (t) => {
  const { server, env } = await start(t);
  server.methods["vm.migrate"] = () => ({ taskId: "0a-b" });
  const task = { id: "0a-b", status: "pending", progress: 0 };
  let asked = 0;
  server.routes["GET /rest/v0/tasks/0a-b"] = (...all) => {
    json(200, ++asked === 1 ? task : { ...task, status: "success" })(...all);
  };
  const notificationOf = (change: object) =>
    `${JSON.stringify(["update", { ...task, ...change }])}\n`;
  server.routes["GET /rest/v0/tasks"] = (_request, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.write(notificationOf({ id: "0a-b2", progress: 99 }));
    response.write(notificationOf({ progress: 25 }));
    response.write(notificationOf({ progress: 75 }));
    // It continues until the reader ends it.
    response.write(notificationOf({ status: "success", progress: 100 }));
  };
  const delay = async () => undefined;
  const options = { env, delay, columns: 80 };
  const cli = await runCli(t, ["call", "vm.migrate"], options);
  t.equal(cli.code, 0, cli.err);
  for (const figure of [" 0%", "25%", "75%"]) t.match(cli.err, figure);
  t.notMatch(cli.err, "99%");
  t.equal(asked, 2);
  const watched = server.requests.find(({ line }) => /watch=true/.test(line));
  t.match(watched?.line, /filter=id%3A%220a-b%22/);
});

t.test("a task that fails ends with 1", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.migrate"] = () => ({ taskId: "0a-b" });
  const result = { message: "HOST_DISABLED(h)", code: "HOST_DISABLED" };
  server.routes["GET /rest/v0/tasks/0a-b"] = json(200, {
    id: "0a-b",
    status: "failure",
    result,
  });
  const cli = await call(["vm.migrate"]);
  t.equal(cli.code, 1);
  t.match(cli.err, "task 0a-b: HOST_DISABLED(h) (HOST_DISABLED)");
});

t.test("Ctrl-C leaves the task running and prints its id", async (t) => {
  const { server, env } = await start(t);
  server.methods["vm.migrate"] = () => ({ taskId: "0a-b" });
  server.routes["GET /rest/v0/tasks/0a-b"] = json(200, {
    id: "0a-b",
    status: "pending",
    progress: 5,
  });
  const delay = () => new Promise<void>(() => undefined);
  const args = ["call", "vm.migrate"];
  const cli = new Cli(t, args, { env, delay, columns: 80 });
  await cli.until(({ err }) => err.includes("5%"));
  cli.interrupt();
  t.equal(await cli.ended, 130);
  t.match(cli.err, "the task continues: xo-cli rest get tasks/0a-b");
});

t.test("a server that disconnects during a call exits with 4", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.start"] = (_params, socket) => {
    socket.terminate();
  };
  const cli = await call(["vm.start", "id=x"]);
  t.equal(cli.code, 4);
  t.match(cli.err, /CONNECTION_LOST\)\nhint: /);
});

t.test("SIGTERM ends it with 143", async (t) => {
  const { server, env } = await start(t);
  server.methods["vm.start"] = () => new Promise(() => undefined);
  const cli = new Cli(t, ["call", "vm.start"], { env });
  cli.interrupt("SIGTERM");
  t.equal(await cli.ended, 143);
});

t.test("times of a result are dates, other numbers are not", async (t) => {
  const { server, call } = await start(t);
  const date = Date.UTC(2026, 10, 28, 12);
  server.methods["backup.getAll"] = () => [
    {
      timestamp: date,
      created_at: date,
      snapshot_time: date / 1000,
      ttl: date,
    },
  ];
  const { out } = await call(["backup.getAll"]);
  for (const name of ["timestamp", "created_at", "snapshot_time"])
    t.match(out, new RegExp(`${name}: 2026-11-2[789]T`));
  t.match(out, `ttl: ${date}`);
});

t.test("methods of sessions are not for calling", async (t) => {
  const { call } = await start(t);
  t.equal((await call(["session.signOut"])).code, 2);
});

t.test("methods are listed, found and explained", async (t) => {
  const { server, env } = await start(t);
  server.methods["system.getMethodsInfo"] = () => ({
    "vm.start": {
      description: "Starts a VM.",
      permission: "operate",
      params: {
        id: { type: "string", description: "Of the VM." },
        host: { type: ["string", "null"], optional: true },
        mode: { anyOf: [{ const: "RW" }, { const: "RO" }], default: "RO" },
      },
    },
    "vm.stop": { params: { id: { type: "string" } } },
    "vm.create": {
      params: {
        VDIs: {
          type: "array",
          optional: true,
          items: {
            type: "object",
            required: ["size"],
            properties: {
              size: { type: "number", description: "Bytes." },
              SR: { type: "string" },
            },
          },
        },
        installation: {
          anyOf: [
            {
              type: "object",
              required: ["method"],
              properties: { method: { const: "cdrom" } },
            },
            {
              type: "object",
              required: ["method"],
              properties: {
                method: { const: "network" },
                repository: { type: "string" },
              },
            },
          ],
        },
      },
    },
    "host.stop": {},
  });
  const methods = (...args: string[]) =>
    runCli(t, ["methods", ...args], { env });
  t.equal(
    (await methods("STOP")).out,
    "host.stop\nvm.stop id=<string>\n",
    "by a part of the name",
  );
  t.equal((await methods("vm.*")).lines.length, 4);
  const help = (await methods("vm.start")).out;
  t.match(
    help,
    'xo-cli call vm.start id=<string> [host=<string|null>] [mode=<"RW"|"RO">]',
  );
  t.match(help, /id +string +required +Of the VM\./);
  t.match(help, /host +string\|null +optional$/m);
  t.match(help, /Default: "RO"\./);
  const asked = await runCli(t, ["call", "vm.start", "--help"], { env });
  t.equal(asked.out, help);
  const nested = (await methods("vm.create")).out;
  t.match(nested, /VDIs\[\]\.size +number +required +Bytes\./);
  t.match(nested, /VDIs\[\]\.SR +string +optional$/m);
  t.match(nested, /installation\.method +"cdrom" +required$/m);
  t.match(nested, /installation\.repository +string +optional$/m);
  t.same(Object.keys((await methods("--json")).json as object), [
    ...["host.stop", "vm.create", "vm.start", "vm.stop"],
  ]);
  t.equal((await methods("unicorn")).code, 1);
});
