import { once } from "node:events";
import { request } from "node:http";
import t, { type Test } from "tap";
import { startTestServer } from "./test-server.js";

const PASSWORD = "ada's password";

/** A server with the user `ada`, whose requests wait for the rest of their body. */
async function setUp(t: Test, permission: "admin" | "none" = "admin") {
  const { connect, host } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const ada = { email: "ada", password: PASSWORD, permission };
  const id = (await admin.request("user.create", ada)) as string;
  const session = await (await connect()).signIn("ada", PASSWORD);
  const token = (await session.request("token.create", {})) as string;
  /** Creates a user over REST; the last byte of the body is sent by `end`, which returns the status. */
  const begin = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ name: "eve", password: "eve's password" });
    const path = "/rest/v0/users";
    const sent = request(`http://${host}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "content-length": body.length,
        expect: "100-continue",
        ...headers,
      },
    });
    const answered = once(sent, "response");
    sent.write(body.slice(0, -1));
    await once(sent, "continue");
    return async () => {
      sent.end(body.slice(-1));
      const [answer] = (await answered) as [{ statusCode: number }];
      return answer.statusCode;
    };
  };
  const hasEve = async () =>
    ((await admin.request("user.getAll")) as { email: string }[]).some(
      ({ email }) => email === "eve",
    );
  return { admin, id, token, begin, hasEve };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

t.test("rights are those at the time when a body has arrived", async (t) => {
  const { admin, id, token, begin, hasEve } = await setUp(t);
  const end = await begin(bearer(token));
  await admin.request("user.set", { id, permission: "none" });
  t.equal(await end(), 403);
  t.notOk(await hasEve());
  await admin.request("user.set", { id, permission: "admin" });
  t.equal(await (await begin(bearer(token)))(), 201);
});

t.test("nothing is done for a user who was deleted meanwhile", async (t) => {
  const { admin, id, token, begin, hasEve } = await setUp(t);
  const end = await begin(bearer(token));
  await admin.request("user.delete", { id });
  t.equal(await end(), 401);
  t.notOk(await hasEve());
});

t.test("nothing is done with a token that was revoked meanwhile", async (t) => {
  const { admin, id, token, begin, hasEve } = await setUp(t);
  const end = await begin(bearer(token));
  await admin.request("user.set", { id, password: "another password" });
  t.equal(await end(), 401);
  t.notOk(await hasEve());
});

t.test(
  "nothing is done with a password that was changed meanwhile",
  async (t) => {
    const { admin, id, begin, hasEve } = await setUp(t);
    const signIns = async () =>
      (
        (await admin.request("audit.getRecords", {
          filter: "subject:userName:ada",
        })) as { records: { event: string }[] }
      ).records.filter(({ event }) => event === "session.signIn").length;
    const before = await signIns();
    const basic = `Basic ${btoa(`ada:${PASSWORD}`)}`;
    const end = await begin({ authorization: basic });
    while ((await signIns()) === before);
    await admin.request("user.set", { id, password: "another password" });
    t.equal(await end(), 401);
    t.notOk(await hasEve());
  },
);
