// What a program with xo-lib does: sign in, list, filter, start a VM, watch it
// run. Run as `node xo-lib-client.js FOLDER URL USER PASSWORD`, where FOLDER has
// xo-lib in its node_modules; prints what it saw as one line of JSON.
import { createRequire } from "node:module";
import { get } from "node:http";
import { join } from "node:path";

const [folder, url, email, password] = process.argv.slice(2);
const { default: Xo } = createRequire(join(folder, "x.js"))("xo-lib");

async function main() {
  const xo = new Xo({ url });
  const objects = new Map();
  const waiting = new Set();
  xo.on("notification", ({ method, params }) => {
    if (method !== "all") return;
    for (const [id, object] of Object.entries(params.items))
      objects.set(id, object);
    for (const look of waiting) look();
  });
  const until = (condition) =>
    new Promise((resolve) => {
      const look = () => condition() && (waiting.delete(look), resolve());
      waiting.add(look);
      look();
    });
  const list = async (filter, more) =>
    Object.values(await xo.call("xo.getAllObjects", { filter, ...more }));

  await xo.open();
  await xo.signIn({ email, password });
  const { user } = xo;
  const client = { id: "a program" };
  const token = await xo.call("token.create", { client, description: "test" });
  const again = await xo.call("token.create", { client });
  const [vm] = await list({ type: "VM", power_state: "Halted" });
  const started = await xo.call("vm.start", { id: vm.id });
  await until(() => objects.get(vm.id)?.power_state === "Running");
  const twice = await xo.call("vm.start", { id: vm.id }).catch(toError);
  await xo.call("tag.add", { id: vm.id, tag: "seen by xo-lib" });
  const limited = await list({ type: "VM" }, { limit: 3 });
  const stream = await xo.call("xo.getAllObjects", {
    filter: { type: "VM" },
    ndjson: true,
  });
  const lines = await download(new URL(stream.$getFrom, url));
  await xo.close();
  // It signs in again by itself.
  await xo.open();
  await new Promise((resolve) => xo.once("authenticated", resolve));
  const tagged = await list({ tags: ["seen by xo-lib"] });
  // Last: for two seconds after it the right one is refused as well.
  const refused = await xo
    .signIn({ email, password: "wrong" })
    .then(() => undefined, toError);
  const seen = {
    refused,
    user,
    isSameToken: token === again,
    started,
    twice,
    limited: limited.length,
    lines: lines.trimEnd().split("\n").length,
    vms: (await list({ type: "VM" })).length,
    tagged: tagged.map(({ id }) => id === vm.id),
    unknown: await xo.call("no.such").catch(toError),
  };
  await xo.close();
  console.log(JSON.stringify(seen));
}

async function download(address) {
  const answer = await new Promise((resolve, reject) => {
    get(address, resolve).on("error", reject);
  });
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk;
  return text;
}

function toError({ code, message, data }) {
  return { code, message, data };
}

main().catch((error) => {
  console.error(error);
  // The socket would keep it running.
  process.exit(1);
});
