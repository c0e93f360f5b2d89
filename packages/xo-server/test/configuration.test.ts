import t from "tap";
import { startTestServer } from "./test-server.js";

t.test("admins carry the configuration to another server", async (t) => {
  const one = await startTestServer(t);
  const admin = await (await one.connect()).signIn();
  await admin.request("user.create", { email: "ada", password: "ada" });
  for (const params of [{}, { passphrase: "short" }])
    t.match(await admin.call("xo.exportConfig", params), {
      error: { code: 10 },
    });
  const passphrase = "correct horse";
  const { $getFrom } = (await admin.request("xo.exportConfig", {
    passphrase,
  })) as { $getFrom: string };
  const file = Buffer.from(await (await one.get($getFrom)).arrayBuffer());
  t.match(file.toString("latin1"), /^XOCONF1\n/);

  const two = await startTestServer(t);
  const other = await (await two.connect()).signIn();
  const send = async (words: string) => {
    const { $sendTo } = (await other.request("xo.importConfig", {
      passphrase: words,
    })) as { $sendTo: string };
    return two.get($sendTo, { method: "POST", body: file });
  };
  t.not((await send("wrong words")).status, 200);
  t.equal((await send(passphrase)).status, 200);
  await t.resolves((await two.connect()).signIn("ada", "ada"));

  const ada = await (await one.connect()).signIn("ada", "ada");
  t.match(await ada.call("xo.exportConfig", { passphrase }), {
    error: { code: 2 },
  });
  t.notMatch([...one.lines, ...two.lines].join(""), passphrase);
});
