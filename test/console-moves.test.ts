import t, { type Test } from "tap";
import { ApiSession, startOver } from "./api-session.js";
import { ConsoleClient, opened } from "./console-client.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

t.test("the console continues after a migration", LIMIT, async (t) => {
  const { url } = await startOver(t, ["--members", "2"]);
  const admin = await ApiSession.open(t, url);
  const token = (await admin.request("token.create")) as string;
  const headers = { cookie: `authenticationToken=${token}` };
  const open = async (t: Test, id: string) =>
    opened(await ConsoleClient.open(t, `${url}/api/consoles/${id}`, headers));
  const hosts = await admin.all({ type: "host" });
  const running = await admin.all({ type: "VM", power_state: "Running" });
  // Members refuse consoles of VMs that run on other hosts, so the server must connect to the right
  // one.
  for (const host of hosts) {
    const vm = running.find(({ $container }) => $container === host.id)!;
    const client = await open(t, vm.id);
    const { name } = await client.shakeHands();
    t.equal(name, vm["name_label"], `on ${String(host["address"])}`);
    client.socket.close();
  }

  const vm = running[0]!;
  const target = hosts.find(({ id }) => id !== vm["$container"])!;
  const client = await open(t, vm.id);
  await client.shakeHands();
  await admin.request("vm.migrate", { vm: vm.id, targetHost: target.id });
  t.match(await client.closed, { code: 1000 });
  t.equal((await admin.get(vm.id))["$container"], target.id);
  const again = await open(t, vm.id);
  t.equal((await again.shakeHands()).name, vm["name_label"]);
});
