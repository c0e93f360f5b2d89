import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import t from "tap";
import { msUntil } from "./fake-clock.js";
import { poolScript } from "./fake-xapi.js";
import { setUp, viaOf, timed } from "./indirect-pool.js";

t.test(
  "another process gets a socket through which it reaches the member",
  async (t) => {
    const { xapi, network, clock, route } = await setUp(t);
    await xapi.connect();
    const direct = await xapi.streamTarget({ path: "/x" });
    t.notMatch(direct, { socketPath: String });
    const member = `https://127.0.0.1:${network.port}`;
    await network.refuse();
    const get = () => timed(clock, xapi.streamTarget({ path: "/x" }));
    t.match((await get()).outcome, [
      {
        value: {
          ...direct,
          socketPath: `socket to ${member}`,
        },
      },
    ]);
    route.hasSockets = false;
    t.match((await get()).outcome, [
      { reason: { code: "UNREACHABLE", message: /no sockets/ } },
    ]);
  },
);

t.test(
  "a disk is read by NBD in the same way as the pool is reached",
  async (t) => {
    const { xapi, network, clock, route } = await setUp(t);
    const server = { address: "192.0.2.1", port: 10809, vdi: "OpaqueRef:d" };
    await xapi.connect();
    t.equal(await xapi.nbdSocket(server), undefined, "directly");
    network.drop();
    await timed(clock, xapi.call("VM.get_all"));
    await msUntil(clock, () => viaOf(xapi) === "xo2");
    t.equal(
      await xapi.nbdSocket(server),
      "socket to nbd://192.0.2.1:10809/OpaqueRef:d",
    );
    t.equal(
      await xapi.nbdSocket({ ...server, address: "2001:db8::1" }),
      "socket to nbd://[2001:db8::1]:10809/OpaqueRef:d",
    );
    route.hasSockets = false;
    await t.rejects(xapi.nbdSocket(server), { code: "UNREACHABLE" });
  },
);

t.test(
  "a client opens connections to the NBD servers of a disk for others, and to no others",
  async (t) => {
    const { xapi, pool } = await setUp(t);
    const nbd = createServer().listen(0, "127.0.0.1");
    await once(nbd, "listening");
    t.teardown(() => nbd.close());
    const { port } = nbd.address() as AddressInfo;
    pool.answer(
      poolScript(({ method, params }) =>
        method === "VDI.get_nbd_info" && params[1] === "OpaqueRef:d"
          ? { value: [{ address: "127.0.0.1", port: String(port) }] }
          : undefined,
      ),
    );
    const open = (url: string) =>
      xapi.openMember(url, new AbortController().signal);
    const url = `nbd://127.0.0.1:${port}/OpaqueRef:d`;
    await t.rejects(open(url), { code: "UNSUPPORTED" }, "not connected");
    await xapi.connect();
    const socket = await open(url);
    t.equal(socket.remotePort, port);
    socket.destroy();
    for (const other of [
      `nbd://127.0.0.1:${port + 1}/OpaqueRef:d`,
      `nbd://127.0.0.2:${port}/OpaqueRef:d`,
      `nbd://169.254.169.254:80/OpaqueRef:d`,
    ])
      await t.rejects(
        open(other),
        { code: "UNSUPPORTED", message: /does not name it for this disk/ },
        other,
      );
    await t.rejects(open(`nbd://127.0.0.1:${port}/OpaqueRef:e`));
  },
);

t.test("a client opens connections to members for others", async (t) => {
  const { xapi, network, clock } = await setUp(t);
  const open = (member: string) =>
    xapi.openMember(member, new AbortController().signal);
  const member = `https://127.0.0.1:${network.port}`;
  await t.rejects(open(member), { code: "UNSUPPORTED" }, "not connected");
  await xapi.connect();
  const socket = await open(member);
  t.equal(socket.remotePort, network.port);
  socket.destroy();
  for (const unknown of [
    "https://127.0.0.1:1",
    `http://127.0.0.1:${network.port}`,
    "https://169.254.169.254",
  ])
    await t.rejects(open(unknown), { code: "UNSUPPORTED" }, unknown);
  network.drop();
  await timed(clock, xapi.call("VM.get_all"));
  await msUntil(clock, () => viaOf(xapi) === "xo2");
  await t.rejects(open(member), { code: "UNSUPPORTED" }, "no loops");
});
