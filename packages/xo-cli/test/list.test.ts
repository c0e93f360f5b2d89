import t, { type Test } from "tap";
import { FakeServer, RpcError } from "./fake-server.js";
import { runCli } from "./run-cli.js";

const VMS = [
  {
    id: "11111111-1111-4111-8111-111111111111",
    type: "VM",
    name_label: "db-1",
    power_state: "Running",
    memory: { size: 4294967296 },
    CPUs: { number: 4 },
    tags: ["prod", "db"],
    $pool: "p1",
    mainIpAddress: "10.0.0.1",
  },
  {
    id: "22222222-2222-4222-8222-222222222222",
    type: "VM",
    name_label: "a name that is so long that it fits nowhere, 永和九年",
    power_state: "Halted",
    memory: { size: 1610612736 },
    CPUs: { number: 2 },
    tags: [],
  },
];

/** With `query.page` in pages of two. */
async function withQueries(t: Test): Promise<FakeServer> {
  const server = await FakeServer.start(t);
  server.methods["xo.getAllObjects"] = () => ({
    p1: { id: "p1", type: "pool", name_label: "lab" },
  });
  server.methods["query.page"] = ({ after, limit }) => {
    const from = Number(after ?? 0);
    const rows = VMS.slice(from, from + Math.min(1, Number(limit)));
    const next = from + 1;
    return {
      total: VMS.length,
      revision: 1,
      rows,
      ...(next < VMS.length ? { next: String(next) } : {}),
    };
  };
  return server;
}

/** As servers without queries have it. */
async function withAllObjects(t: Test): Promise<FakeServer> {
  const server = await FakeServer.start(t);
  server.methods["xo.getAllObjects"] = () =>
    Object.fromEntries([...VMS].reverse().map((vm) => [vm.id, vm]));
  return server;
}

t.test("a table has a head, numbers at the right, ids whole", async (t) => {
  const { url } = await withQueries(t);
  const cli = await runCli(t, ["list", "vm", "--server", url]);
  t.equal(cli.code, 0, cli.err);
  t.equal(
    cli.out,
    `
name_label                                             power_state  mainIpAddress  CPUs.number  memory.size  tags      $pool  id
db-1                                                   Running      10.0.0.1                 4        4 GiB  prod, db  lab    11111111-1111-4111-8111-111111111111
a name that is so long that it fits nowhere, 永和九年  Halted                                2      1.5 GiB                   22222222-2222-4222-8222-222222222222
`.slice(1),
  );
});

t.test("the sort column is shown", async (t) => {
  const { url } = await withQueries(t);
  const cli = await runCli(t, [
    "list",
    "vm",
    "--sort",
    "-now.cpu",
    "--server",
    url,
  ]);
  t.match(cli.out, /\$pool {2}now\.cpu {2}id/);
});

t.test("it fits the terminal, and the ids stay", async (t) => {
  const { url } = await withQueries(t);
  const options = { columns: 100, env: { NO_COLOR: "1" } };
  const cli = await runCli(t, ["list", "VMs", "--server", url], options);
  t.ok(
    cli.lines.every((line) => line.length <= 100),
    cli.out,
  );
  t.match(cli.lines[2], /^a name .*… .*22222222-2222-4222-8222-222222222222$/);
  t.equal(
    cli.lines[0],
    "name_label             power_state  mainIpAddress  CPUs.number  id",
    "what there is no room for is left out",
  );
  const named = ["list", "VMs", "--fields", "name_label,tags,CPUs.number,id"];
  const all = await runCli(t, [...named, "--server", url], { columns: 50 });
  t.match(all.lines[0], /name.* +tags +CPUs.* +id/, "but not what was named");
});

t.test("colors depend on the terminal and NO_COLOR", async (t) => {
  const { url } = await withQueries(t);
  const args = ["list", "vm", "--server", url];
  const isColoured = async (more: string[], options: object) =>
    (await runCli(t, [...args, ...more], options)).out.includes("\u001b[1m");
  t.equal(await isColoured([], { columns: 80 }), true);
  t.equal(await isColoured([], {}), false);
  t.equal(await isColoured(["--no-color"], { columns: 80 }), false);
  const env = { NO_COLOR: "1" };
  t.equal(await isColoured([], { columns: 80, env }), false);
});

t.test("names cannot move the cursor", async (t) => {
  const server = await FakeServer.start(t);
  server.methods["query.page"] = () => ({
    total: 1,
    rows: [{ id: "x", name_label: "evil\u001b[2J\u202e\u009b\nname" }],
  });
  const cli = await runCli(t, ["list", "pool", "--server", server.url]);
  t.equal(cli.lines.length, 2);
  t.notMatch(cli.lines.join(""), /[\p{Cc}\u202e]/u);
});

t.test("programs get an array with one object per line", async (t) => {
  const { url } = await withQueries(t);
  const cli = await runCli(t, ["list", "VM", "--json", "--server", url]);
  t.same(cli.json, VMS);
  t.equal(cli.lines.length, VMS.length + 2);
  const some = await runCli(t, [
    "list",
    "VM",
    "--json",
    "--server",
    url,
    "--fields",
    "name_label,memory.size,absent",
  ]);
  t.same((some.json as unknown[])[0], {
    name_label: "db-1",
    "memory.size": 4294967296,
  });
});

t.test("the server filters, sorts and cuts", async (t) => {
  const server = await withQueries(t);
  const cli = await runCli(t, [
    "list",
    "vm",
    "--server",
    server.url,
    "--json",
    "--filter",
    "power_state:running",
    "--sort",
    "-memory.size,name_label",
    "--limit",
    "1",
    "--fields",
    "memory.size,memory.usage",
  ]);
  t.equal((cli.json as unknown[]).length, 1);
  t.match(server.calls, [
    {
      method: "query.page",
      params: {
        type: "VM",
        filter: "power_state:running",
        sort: [{ by: "memory.size", descending: true }, { by: "name_label" }],
        limit: 1,
        fields: ["memory"],
      },
    },
  ]);
});

t.test("servers without queries list all objects", async (t) => {
  const server = await withAllObjects(t);
  const cli = await runCli(t, [
    "list",
    "VM",
    "--server",
    server.url,
    "--json",
    "--limit",
    "1",
    "--filter",
    "tags:prod",
    "--sort",
    "-memory.size",
  ]);
  t.same(cli.json, [VMS[0]], cli.err);
  t.match(server.calls.at(-1), {
    method: "xo.getAllObjects",
    params: { filter: "type:/^VM$/ (tags:prod)" },
  });
  await runCli(t, ["list", "VM", "--server", server.url]);
  t.same(server.calls.at(-1)!.params, { filter: { type: "VM" } });
});

t.test("without a type all types are listed", async (t) => {
  const { url } = await withAllObjects(t);
  const cli = await runCli(t, ["list", "--server", url]);
  t.match(cli.lines[0], /^type +name_label +id$/);
  t.equal(cli.lines.length, 3);
});

t.test("no error is shown as none", async (t) => {
  const server = await FakeServer.start(t);
  server.methods["query.page"] = () => ({ total: 0, rows: [] });
  const args = ["list", "vm", "--server", server.url];
  const cli = await runCli(t, args);
  t.equal(cli.code, 0);
  t.same([cli.out, cli.err], ["", "No matching objects\n"]);
  t.equal((await runCli(t, [...args, "--json"])).out, "[]\n");
});

t.test("a reader that stops is not an error", async (t) => {
  const { url } = await withQueries(t);
  const args = ["list", "vm", "--json", "--server", url];
  const cli = await runCli(t, args, { readerLeavesAfter: 1 });
  t.equal(cli.code, 0);
  t.equal(cli.err, "");
});

t.test("pools that are still being loaded are reported", async (t) => {
  const server = await FakeServer.start(t);
  server.methods["query.page"] = () => ({
    total: 0,
    rows: [],
    complete: false,
  });
  const args = ["list", "vm", "--server", server.url];
  const cli = await runCli(t, args);
  t.equal(cli.code, 0);
  t.match(cli.err, "pools are still being loaded");
  const json = await runCli(t, [...args, "--json"]);
  t.same([json.out, json.err], ["[]\n", ""]);
});

t.test("an invalid filter is reported with its position", async (t) => {
  const server = await FakeServer.start(t);
  server.methods["query.page"] = () => {
    const message = "parse error: expected a term at position 1";
    throw new RpcError(10, message, { code: "FILTER_INVALID", position: 1 });
  };
  const args = ["list", "vm", "--filter", "(", "--server", server.url];
  const cli = await runCli(t, args);
  t.equal(cli.code, 1);
  t.match(
    cli.err,
    /^error: parse error: .* at position 1 \(FILTER_INVALID\)\nhint:/,
  );
});

t.test("a foreign certificate exits with 3", async (t) => {
  const server = await FakeServer.start(t);
  server.methods["query.page"] = () => {
    throw new RpcError(2, "not enough permissions");
  };
  const args = ["list", "vm", "--server", server.url];
  const cli = await runCli(t, args);
  t.equal(cli.code, 3);
  t.match(cli.err, /UNAUTHORIZED.*\nhint: sign in with xo-cli register/);
});

t.test("one object is shown whole, by id or uuid", async (t) => {
  const server = await withAllObjects(t);
  server.methods["xo.getAllObjects"] = ({ filter }) => {
    const { id, uuid } = filter as { id?: string; uuid?: string };
    return Object.fromEntries(
      VMS.filter((vm) => vm.id === id || (uuid === "u" && vm === VMS[0])).map(
        (vm) => [vm.id, vm],
      ),
    );
  };
  const get = (...args: string[]) =>
    runCli(t, ["get", ...args, "--server", server.url]);
  t.match((await get(VMS[0]!.id)).out, /^name_label: db-1$/m);
  t.match((await get(VMS[0]!.id)).out, /^memory:\n {2}size: 4294967296$/m);
  t.same((await get("u", "--json")).json, VMS[0]);
  const none = await get("x");
  t.equal(none.code, 1);
  t.match(none.err, "no such object: x (NO_SUCH_OBJECT)");
});
