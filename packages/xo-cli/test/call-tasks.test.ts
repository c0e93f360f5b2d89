import t from "tap";
import { json, TOKEN } from "./fake-server.js";
import { Cli, runCli } from "./run-cli.js";
import { start } from "./called-server.js";

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
