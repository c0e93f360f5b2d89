import { readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { FakeServer, json, TOKEN } from "./fake-server.js";
import { runCli, type CliOptions } from "./run-cli.js";

async function start(t: Test) {
  const server = await FakeServer.start(t);
  const env = { XO_SERVER: server.url, XO_TOKEN: TOKEN };
  const rest = (args: readonly string[], options: CliOptions = {}) =>
    runCli(t, ["rest", ...args], { env, ...options });
  return { server, env, rest };
}

t.test("a collection is read, with its query, by cookie", async (t) => {
  const { server, rest } = await start(t);
  server.routes["GET /rest/v0/vms"] = json(200, [
    "/rest/v0/vms/1",
    "/rest/v0/vms/2",
  ]);
  const cli = await rest(["get", "vms", "filter=tags:(a b)", "limit=json:2"]);
  t.equal(cli.out, "vms/1\nvms/2\n", cli.err);
  t.match(server.requests, [
    {
      line: "GET /rest/v0/vms?filter=tags%3A%28a+b%29&limit=2",
      cookie: `authenticationToken=${TOKEN}`,
    },
  ]);
  const whole = await rest(["get", "/rest/v0/vms", "--json"]);
  t.same(whole.json, ["/rest/v0/vms/1", "/rest/v0/vms/2"]);
});

t.test(
  "lines are printed as they arrive, until the reader stops",
  async (t) => {
    const { server, rest } = await start(t);
    server.routes["GET /rest/v0/vms"] = (_request, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write('{"id":1}\n{"i');
      setImmediate(() => response.end('d":2}\n'));
    };
    const args = ["get", "vms", "ndjson=true"];
    t.equal((await rest(args)).out, '{"id":1}\n{"id":2}\n');
    const left = await rest(args, { readerLeavesAfter: 1 });
    t.same([left.code, left.err], [0, ""]);
  },
);

t.test("an incomplete stream is an error", async (t) => {
  const { server, rest } = await start(t);
  server.routes["GET /rest/v0/vms"] = (_request, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.write('{"id":1}\n');
    setTimeout(() => response.destroy(), 10);
  };
  const cli = await rest(["get", "vms", "ndjson=true"]);
  t.equal(cli.code, 4);
  t.equal(cli.out, '{"id":1}\n');
  server.routes["GET /rest/v0/vms"] = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write("[");
    setTimeout(() => response.destroy(), 10);
  };
  t.equal((await rest(["get", "vms"])).code, 4);
});

t.test("a response is written to a file", async (t) => {
  const { server, rest } = await start(t);
  server.routes["GET /rest/v0/vdis/1.raw"] = (_request, response) => {
    response
      .writeHead(200, { "content-type": "application/octet-stream" })
      .end("data");
  };
  const file = join(t.testdir({}), "1.raw");
  t.equal((await rest(["get", "vdis/1.raw", "--output", file])).code, 0);
  t.equal(readFileSync(file, "utf8"), "data");
  t.equal((await rest(["get", "vdis/1.raw"])).out, "data");
});

t.test("bodies are JSON, methods in capitals", async (t) => {
  const { server, rest } = await start(t);
  for (const method of ["PUT", "PATCH", "DELETE"])
    server.routes[`${method} /rest/v0/vms/1`] = (_request, response) => {
      response.writeHead(204).end();
    };
  for (const method of ["put", "patch", "del"]) {
    const cli = await rest([method, "vms/1", "tags=json:[]", "a=true"]);
    t.same([cli.code, cli.out], [0, ""], cli.err);
  }
  const body = '{"tags":[],"a":true}';
  t.match(server.requests, [
    { line: "PUT /rest/v0/vms/1", body },
    { line: "PATCH /rest/v0/vms/1", body },
    { line: "DELETE /rest/v0/vms/1", body },
  ]);
});

t.test("an action is followed by its task", async (t) => {
  const { server, rest } = await start(t);
  const path = "/rest/v0/vms/1/actions/start";
  const headers = { location: "/rest/v0/tasks/0a-b" };
  server.routes[`POST ${path}`] = json(202, { taskId: "0a-b" }, headers);
  const task = { id: "0a-b", status: "success" };
  server.routes["GET /rest/v0/tasks/0a-b"] = json(200, task);
  const cli = await rest(["post", "vms/1/actions/start", "--json"]);
  t.same(cli.json, task, cli.err);
  t.equal(server.requests[0]!.body, "{}");
  const alone = ["post", "vms/1/actions/start", "--json", "--no-wait"];
  t.same((await rest(alone)).json, { taskId: "0a-b" });
});

t.test("a file is a body as well", async (t) => {
  const { server, rest } = await start(t);
  server.routes["POST /rest/v0/srs/1/vdis"] = json(201, { id: "new" });
  const file = join(t.testdir({ "d.raw": "data" }), "d.raw");
  const cli = await rest(["post", "srs/1/vdis?raw=true", `@=${file}`]);
  t.equal(cli.out, "id: new\n", cli.err);
  t.match(server.requests, [
    { line: "POST /rest/v0/srs/1/vdis?raw=true", body: "data" },
  ]);
});

t.test("/users/me leads on, to the same server only", async (t) => {
  const { server, rest } = await start(t);
  server.routes["GET /rest/v0/users/me"] = (_request, response) => {
    response.writeHead(307, { location: "/rest/v0/users/u1" }).end();
  };
  server.routes["GET /rest/v0/users/u1"] = json(200, { id: "u1" });
  t.equal((await rest(["get", "users/me"])).out, "id: u1\n");
  const attacker = await FakeServer.start(t);
  server.routes["GET /rest/v0/users/me"] = (_request, response) => {
    response.writeHead(307, { location: attacker.url }).end();
  };
  t.equal((await rest(["get", "users/me"])).code, 1);
  t.equal(attacker.requests.length, 0, "no cookie for others");
});

t.test("requests that the server refuses", async (t) => {
  const { server, rest } = await start(t);
  const no = async (status: number, body: unknown) => {
    server.routes["GET /rest/v0/vms/1"] = json(status, body);
    const { code, err } = await rest(["get", "vms/1", "--json"]);
    const { error } = JSON.parse(err) as { error: Record<string, unknown> };
    return [code, error["code"], error["message"]];
  };
  t.same(await no(404, { error: "no such VM 1", data: { id: "1" } }), [
    1,
    "NO_SUCH_OBJECT",
    "no such VM 1",
  ]);
  t.same(await no(401, { error: "invalid credentials" }), [
    3,
    "UNAUTHORIZED",
    "invalid credentials",
  ]);
  t.same(await no(422, { error: { limit: { message: "no number" } } }), [
    1,
    "INVALID_PARAMETERS",
    '{"limit":{"message":"no number"}}',
  ]);
  t.same(await no(500, { error: "X(y)", data: { code: "X" } }), [
    1,
    "X",
    "X(y)",
  ]);
  const page = await rest(["get", "no/such/route"]);
  t.match(page.err, "404 Not Found (HTTP_404)");
});

t.test("a path stays below /rest/v0", async (t) => {
  const { server, rest } = await start(t);
  t.equal((await rest(["get", "../../metrics"])).code, 2);
  t.equal(server.requests.length, 0);
});

t.test("a server in a folder of another is reached", async (t) => {
  const { server } = await start(t);
  server.routes["GET /xo/rest/v0/ping"] = json(200, { result: "pong" });
  const args = ["rest", "get", "ping", "--server", `${server.url}xo/`];
  t.equal((await runCli(t, args)).out, "result: pong\n");
});
