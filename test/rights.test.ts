import t, { type Test } from "tap";
import { FollowedQuery } from "./followed-query.js";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const PASSWORD = "correct horse";
const env = { XO_ADMIN_PASSWORD: PASSWORD };

t.test(
  "users see objects by their rights, also when these change",
  LIMIT,
  async (t) => {
    const [pool] = await simulate(t);
    const cwd = t.testdir({
      "config.yaml": `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
    });

    const start = () => startServer(t, cwd);

    const first = await start();
    const admin = await first.connect({
      email: "admin",
      password: "correct horse",
    });
    const vms = { type: "VM" };
    const all = (await request(admin, "query.count", vms)) as number;
    t.ok(all > 0);
    const ada = { email: "ada", password: "correct horse" };
    const subject = (await request(admin, "user.create", ada)) as string;

    const client = await first.connect(ada);
    t.equal(
      await request(client, "query.count", vms),
      0,
      "without rights, nothing",
    );
    t.match(await request(client, "query.page", vms), { total: 0, rows: [] });
    t.same(
      await request(client, "query.group", { ...vms, by: "power_state" }),
      [],
    );
    await client.open({ name: "vms", ...vms, offset: 0, limit: 20 });
    t.equal(client.total, 0);

    const { rows } = (await request(admin, "query.page", vms)) as {
      rows: { id: string; power_state: string }[];
    };
    const acl = { subject, object: rows[0]!.id, action: "viewer" };
    await request(admin, "acl.add", acl);
    await client.until(() => client.total === 1);
    t.match(client.rows, [{ id: rows[0]!.id }], "one object");
    t.equal(await request(client, "query.count", vms), 1);

    const roleId = await request(admin, "role.create", { name: "running" });
    await request(admin, "privilege.create", {
      roleId,
      effect: "allow",
      resource: "vm",
      action: "read",
      selector: "power_state:/^Running$/",
    });
    const group = await request(admin, "group.create", { name: "staff" });
    await request(admin, "group.addUser", { id: group, userId: subject });
    await request(admin, "role.addToGroup", { id: roleId, groupId: group });
    const filter = "power_state:/^Running$/";
    await request(admin, "acl.remove", acl);
    const running = await request(admin, "query.count", { ...vms, filter });
    await client.until(() => client.total === running);
    t.ok(client.rows.every((row) => row["power_state"] === "Running"));
    t.equal(await request(client, "query.count", { type: "host" }), 0);
    t.equal(client.ownDigest, client.digest);

    const viewer = (
      (await request(admin, "role.list")) as { id: string; name: string }[]
    ).find(({ name }) => name === "viewer")!;
    const grant = { id: viewer.id, userId: subject };
    await request(admin, "role.addToUser", grant);
    await client.until(() => client.total === all);
    await request(admin, "role.removeFromUser", grant);
    await request(admin, "group.delete", { id: group });
    await client.until(() => client.total === 0);
    t.same(client.rows, [], "what was seen is taken back");

    t.test("all acknowledged data exists after a kill", LIMIT, async (t) => {
      await request(admin, "acl.add", acl);
      const token = await request(client, "token.create");
      t.equal(await first.server.stop("SIGKILL"), "SIGKILL");
      const second = await start();
      const again = await second.connect({ token });
      t.equal(await request(again, "query.count", vms), 1);
      t.notMatch(second.server.output, /Initial admin/);
      const boss = await second.connect({
        email: "admin",
        password: "correct horse",
      });
      t.equal(await request(boss, "query.count", vms), all);
      t.equal(await second.server.stop(), 0);
      const verify = new RunningProgram(t, "xo-server", ["audit", "verify"], {
        cwd,
      });
      t.equal(await verify.ended, 0);
      t.match(verify.output, /audit log intact: 1\d entries/);
    });
  },
);

async function startServer(t: Test, cwd: string) {
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, url, PASSWORD);
  await page.until(({ pools }) => pools["p"]?.state === "watching");
  const connect = async (params: object) => {
    const client = await FollowedQuery.connect(t, url);
    t.match(await client.call("session.signIn", params), { result: {} });
    return client;
  };
  return { server, connect };
}

async function request(
  client: FollowedQuery,
  method: string,
  params: object = {},
): Promise<unknown> {
  return (await client.call(method, params)).result;
}
