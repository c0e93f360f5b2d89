import t from "tap";
import { RpcError } from "./fake-server.js";
import { runCli } from "./run-cli.js";
import { start } from "./called-server.js";

t.test("values are converted like xo-cli of Xen Orchestra", async (t) => {
  const { server, call } = await start(t);
  server.methods["vm.set"] = () => true;
  const cli = await call([
    "vm.set",
    "id=x=y",
    "auto_poweron=true",
    "secureBoot=false",
    "CPUs=json:4",
    'tags=json:["a"]',
    "limit=1",
    "empty=",
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
    "vm.set",
    "CPUs=4",
    "name_label=12",
    "affinityHost=null",
    "list=a,b",
    'options={"a":1}',
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
    const named = { id: "vm-2", name: "web", error };
    const result = { failed: [{ id: "vm-1", error }, named] };
    throw new RpcError(-32000, "vm.start: 1 of 2 failed", { result });
  };
  t.match(
    (await call(["bulk.run"])).err,
    "\n  vm-1: VM is paused\n  web (vm-2): VM is paused",
  );
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
    "host.stop",
    "vm.create",
    "vm.start",
    "vm.stop",
  ]);
  t.equal((await methods("unicorn")).code, 1);
});
