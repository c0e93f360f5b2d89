import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import { as, startRestServer } from "./rest-server.js";

t.test("wrong HTTP methods are answered with the allowed ones", async (t) => {
  const { get } = await startRestServer(t);
  for (const [path, method, allow] of [
    ["/ping", "POST", "GET, HEAD"],
    ["/vms", "DELETE", "GET, HEAD"],
    ["/events/x/subscriptions", "GET", "POST"],
    ["/auth/login", "GET", "POST"],
  ] as const) {
    const answer = await get(path, { ...as("admin"), method });
    t.equal(answer.status, 405, `${method} ${path}`);
    t.match(answer.headers.get("allow"), allow);
    t.match(await answer.json(), { error: /method not allowed/ });
  }
  t.equal((await get("/absent", { method: "POST" })).status, 404);
});

t.test(
  "a client that disconnects before its refused body has arrived is no error",
  async (t) => {
    const { host, lines, get } = await startRestServer(t);
    const { hostname, port } = new URL(`http://${host}`);
    const refused = [
      ["/ping", 405],
      ["/absent", 404],
    ] as const;
    for (const [path, status] of refused) {
      const socket = connect(Number(port), hostname);
      socket.write(
        `POST /rest/v0${path} HTTP/1.1\r\nhost: x\r\ncookie: authenticationToken=admin\r\ncontent-length: 10\r\n\r\nx`,
      );
      const [head] = (await once(socket, "data")) as [Buffer];
      t.match(head.toString(), `HTTP/1.1 ${status}`);
      socket.destroy();
      await once(socket, "close");
    }
    // The server has noticed the disconnections before it answers this one.
    await get("/ping");
    t.same(
      lines.filter((line) => line.includes("failed")),
      [],
    );
  },
);
