import t from "tap";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

t.test("pools to connect to are listed, added and deleted", async (t) => {
  const { get } = await startTestServer(t);
  const headers = {
    authorization: `Basic ${btoa(`admin:${ADMIN_PASSWORD}`)}`,
    "content-type": "application/json",
  };
  const request = (path: string, method = "GET", body?: object) =>
    get(`/rest/v0${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const input = { host: "192.0.2.9", username: "root", password: "hunter2" };
  const added = await request("/servers", "POST", input);
  t.equal(added.status, 201);
  const { id } = (await added.json()) as { id: string };
  const href = `/rest/v0/servers/${id}`;
  t.equal(added.headers.get("location"), href);
  t.same(await (await request("/servers")).json(), [href]);
  const body = await (await request(`/servers/${id}`)).text();
  t.match(JSON.parse(body), { id, host: "192.0.2.9" });
  t.notMatch(body, "hunter2");
  t.equal((await get("/rest/v0/servers")).status, 401);
  t.match(await (await request("/servers", "POST", { host: "h" })).json(), {
    error: { "body.password": { message: "'password' is required" } },
  });
  const act = (verb: string) =>
    request(`/servers/${id}/actions/${verb}?sync=true`, "POST");
  t.equal((await act("disconnect")).status, 204);
  t.match(await (await request(`/servers/${id}`)).json(), {
    enabled: false,
    status: "disconnected",
  });
  t.equal((await act("connect")).status, 204);
  t.match(await (await request(`/servers/${id}`)).json(), { enabled: true });
  const begun = await request(`/servers/${id}/actions/disconnect`, "POST");
  t.equal(begun.status, 202);
  const { taskId } = (await begun.json()) as { taskId: string };
  t.same(await (await request(`/servers/${id}/tasks`)).json(), [
    `/rest/v0/tasks/${taskId}`,
  ]);
  t.equal((await request("/servers/none/tasks")).status, 404);
  t.equal((await request("/servers/none/actions/connect", "POST")).status, 404);
  t.equal((await request(`/servers/${id}`, "DELETE")).status, 204);
  t.equal((await request(`/servers/${id}`)).status, 404);
});
