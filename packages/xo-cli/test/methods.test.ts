import t, { type Test } from "tap";
import { FakeServer } from "./fake-server.js";
import { runCli } from "./run-cli.js";

async function start(t: Test) {
  const server = await FakeServer.start(t);
  server.methods["system.getMethodsInfo"] = () => ({
    "vbd.delete": { description: "Detach a disk from a VM." },
    "vm.set": {
      description: "Change settings of a VM.",
      params: { coresPerSocket: { description: "CPU topology." } },
    },
    "vm.create": {
      description: "Create a VM.",
      params: {
        VDIs: { items: { properties: { bus: { enum: ["scsi", "ide"] } } } },
      },
    },
    "disk.detachAll": { description: "Something else." },
  });
  const env = { XO_SERVER: server.url };
  return async (...words: string[]) => {
    const cli = await runCli(t, ["methods", ...words, "--json"], { env });
    return cli.code === 0 ? Object.keys(cli.json as object) : cli.err;
  };
}

t.test("all words of a search must occur, in any order", async (t) => {
  const methods = await start(t);
  t.same(await methods("disk", "DETACH"), ["disk.detachAll", "vbd.delete"]);
  t.same(await methods("detach disk"), ["disk.detachAll", "vbd.delete"]);
  t.match(await methods("detach", "network"), "no method matches detach netw");
});

t.test("names precede summaries, and these parameters", async (t) => {
  const methods = await start(t);
  t.same(await methods("vm"), ["vm.create", "vm.set", "vbd.delete"]);
  t.same(await methods("topology"), ["vm.set"]);
  t.same(await methods("socket"), ["vm.set"], "a part of a name in camel case");
  t.same(await methods("scsi"), ["vm.create"], "a value of a nested parameter");
});

t.test("names are also matched by a pattern", async (t) => {
  const methods = await start(t);
  t.same(await methods("vm.*"), ["vm.create", "vm.set"]);
  t.same(await methods("VM.S"), ["vm.set"]);
  t.same(await methods(), [
    "disk.detachAll",
    "vbd.delete",
    "vm.create",
    "vm.set",
  ]);
});
