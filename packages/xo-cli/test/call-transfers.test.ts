import { readFileSync } from "node:fs";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";

import { Cli } from "./run-cli.js";
import { start } from "./called-server.js";

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
