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
