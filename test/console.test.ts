import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import {
  ConsoleClient,
  opened,
  type ConsoleHeaders,
} from "./console-client.js";
import { startStorageBench, type Row } from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

interface Entry {
  readonly event: string;
  readonly subject: { readonly userName?: string };
  readonly data: {
    readonly objectId?: string;
    readonly outcome: string;
    readonly errorCode?: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

t.test("consoles through the server", LIMIT, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, url, server } = bench;
  const running = await list("vms", "power_state:Running");
  const [host] = await list("hosts");
  const [pool] = await list("pools");
  const open = (
    t: Test,
    id: string,
    headers: ConsoleHeaders = { cookie: admin.cookie },
    query = "",
  ) => ConsoleClient.open(t, `${url}/api/consoles/${id}${query}`, headers);
  const consolesOf = async (objectId: string): Promise<Entry[]> => {
    const requested = { objectId, filter: "event:console.", limit: 1000 };
    const found = await admin.request<{ records: Entry[] }>(
      "audit.getRecords",
      requested,
    );
    return found.records;
  };
  const untilClosed = async (id: string): Promise<Entry["data"]> => {
    for (;;) {
      const found = await consolesOf(id);
      const end = found.find(({ event }) => event === "console.close");
      if (end !== undefined) return end.data;
      await pause(20);
    }
  };

  t.test("the screen is shown, and changes after a key press", async (t) => {
    const [vm] = running;
    const client = opened(await open(t, vm!.id));
    const { name, width, height } = await client.shakeHands();
    t.equal(name, vm!["name_label"]);
    const before = await client.picture(width, height);
    const keys = 4 * width * 16;
    client.key("x".charCodeAt(0));
    const after = await client.picture(width, height);
    t.equal(after.length, 4 * width * height);
    t.not(
      Buffer.compare(before.subarray(-keys), after.subarray(-keys)),
      0,
      "the row of keys shows it",
    );
    client.socket.close(1000);
    await client.closed;
    const end = await untilClosed(vm!.id);
    t.equal(end.outcome, "success");
    const { parameters } = end;
    t.match(parameters, { type: "rfb", reason: "closed by the client" });
    t.ok(Number(parameters["bytesToClient"]) > 2 * after.length);
    t.equal(parameters["bytesFromClient"], 12 + 1 + 1 + 2 * 10 + 2 * 8);
    t.ok(Number(parameters["seconds"]) >= 0);
    const begin = (await consolesOf(vm!.id)).find(
      ({ event }) => event === "console.open",
    );
    t.match(begin, {
      subject: { userName: "admin" },
      data: { parameters: { connection: end.parameters["connection"] } },
    });
  });

  t.test("terminals echo, those of VMs and of hosts", async (t) => {
    for (const { id } of [running[1]!, host!]) {
      const client = opened(await open(t, id, undefined, "?type=vt100"));
      await client.find("login: ");
      client.write("root");
      await client.find("root");
      t.pass(id);
      client.socket.close();
      await client.closed;
    }
  });

  t.test("other authentication methods", async (t) => {
    const { id } = running[1]!;
    const token = admin.cookie.split("=")[1]!;
    const bearer = { authorization: `Bearer ${token}` };
    opened(await open(t, id, bearer));
    const created = await admin.rest("POST", "/session/ticket", {});
    const { ticket } = created.body as { ticket: string };
    opened(await open(t, id, {}, `?ticket=${ticket}`));
    const again = await open(t, id, {}, `?ticket=${ticket}`);
    t.match(again, { status: 401 }, "a ticket is good once");
    const bare = `${url}/consoles/${id}/`;
    const named = opened(
      await ConsoleClient.open(t, bare, { cookie: admin.cookie }, ["binary"]),
    );
    t.equal(named.socket.protocol, "binary");
  });

  t.test("a refused request is refused before the upgrade", async (t) => {
    const { id } = running[2]!;
    const [halted] = await list("vms", "power_state:Halted");
    const [template] = await list("vm-templates");
    const viewer = await bench.addUser("viewer", { [id]: "viewer" });
    const operator = await bench.addUser("operator", { [id]: "operator" });
    const hosts = await bench.addUser("hosts", { [host!.id]: "operator" });
    const cross = { cookie: admin.cookie, origin: "https://elsewhere.example" };
    const cases: [string, ConsoleHeaders, number, string, string?][] = [
      [id, {}, 401, "UNAUTHORIZED"],
      [id, { cookie: "authenticationToken=x" }, 401, "CREDENTIALS_INVALID"],
      [id, { cookie: viewer.cookie }, 403, "FORBIDDEN"],
      [id, cross, 403, "FORBIDDEN"],
      [host!.id, { cookie: hosts.cookie }, 403, "FORBIDDEN"],
      [running[3]!.id, { cookie: operator.cookie }, 404, "NO_SUCH_OBJECT"],
      ["none", { cookie: admin.cookie }, 404, "NO_SUCH_OBJECT"],
      [pool!.id, { cookie: admin.cookie }, 404, "NO_SUCH_OBJECT"],
      [template!.id, { cookie: admin.cookie }, 404, "NO_SUCH_OBJECT"],
      [halted!.id, { cookie: admin.cookie }, 409, "VM_BAD_POWER_STATE"],
      [id, { cookie: admin.cookie }, 422, "INVALID_PARAMETERS", "?type=spice"],
    ];
    for (const [id, headers, status, code, query] of cases) {
      const description = `${code} ${JSON.stringify(headers)} ${query ?? ""}`;
      t.match(
        await open(t, id, headers, query),
        { status, body: { code } },
        description,
      );
      if (query !== undefined) continue;
      const { cookie = "", ...others } = headers;
      const plain = await fetch(`${url}/api/consoles/${id}`, {
        headers: { cookie, ...others },
      });
      t.equal(plain.status, status, `${description}, without an upgrade`);
      t.match(await plain.json(), { code });
    }
    opened(await open(t, id, { cookie: operator.cookie }));
    t.match(
      await consolesOf(halted!.id),
      [{ data: { outcome: "failure", errorCode: "VM_BAD_POWER_STATE" } }],
      "who was refused stands in the audit log",
    );
    const denied = (await consolesOf(id)).filter(
      ({ data }) => data.errorCode === "FORBIDDEN",
    );
    t.match(denied, [{ subject: { userName: "viewer" } }]);
  });

  t.test("a plain GET returns the present rows", async (t) => {
    const { id, name_label } = running[2]!;
    const answer = await fetch(`${url}/api/consoles/${id}`, {
      headers: { cookie: admin.cookie },
    });
    t.same(await answer.json(), {
      id,
      name_label,
      type: "VM",
      kinds: ["rfb", "vt100"],
    });
  });

  t.test("it ends when the VM does", async (t) => {
    const { id } = running[4]!;
    const client = opened(await open(t, id));
    await client.shakeHands();
    await admin.request("vm.stop", { id, force: true });
    t.match(await client.closed, { code: 1000 });
    t.match((await untilClosed(id)).parameters, { reason: /^the con/ });
    t.match(await open(t, id), {
      status: 409,
      body: { code: "VM_BAD_POWER_STATE", data: { actual: "halted" } },
    });
  });

  t.test("it ends when the right, or the session, does", async (t) => {
    const { id } = running[5]!;
    const user = await bench.addUser("leaver", { [id]: "operator" });
    const client = opened(await open(t, id, { cookie: user.cookie }));
    await client.shakeHands();
    const users = await admin.request<Row[]>("user.getAll");
    const { id: subject } = users.find((one) => one["email"] === "leaver")!;
    await admin.request("acl.remove", {
      subject,
      object: id,
      action: "operator",
    });
    t.match(await client.closed, { code: 1008, reason: /no such VM/ });

    await admin.request("acl.add", { subject, object: id, action: "operator" });
    const again = opened(await open(t, id, { cookie: user.cookie }));
    await admin.request("user.delete", { id: subject });
    t.match(await again.closed, { code: 1008, reason: "session expired" });
  });

  t.test("it ends with the server, and that is written down", async (t) => {
    const { id } = running[6]!;
    const client = opened(await open(t, id));
    await client.shakeHands();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    t.match(metrics, /^xo_consoles [1-9]/m);
    t.match(metrics, /^xo_console_bytes_total\{direction="to"\} \d{4,}/m);
    server.child.kill("SIGTERM");
    t.match(await client.closed, { code: 1001 });
    t.equal(await server.ended, 0);
    t.notMatch(server.output, /authenticationToken|OpaqueRef/);
  });
});
