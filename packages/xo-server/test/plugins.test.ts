import { openStore } from "@xo-server/store";
import t, { type Test } from "tap";
import { Plugins } from "../src/plugins/plugins.js";
import { startTestServer } from "./test-server.js";
import { cheapCosts } from "./cheap-costs.js";

async function setUp(t: Test) {
  const folder = t.testdir();
  const store = await openStore({
    location: `${folder}/store.db`,
    key: { file: `${folder}/store.key` },
    ...cheapCosts,
  });
  t.teardown(() => store.close());
  const warnings: string[] = [];
  const logger = { warn: (text: string) => void warnings.push(text) };
  const open = () => {
    const plugins = new Plugins({ store, version: "0.1.0", logger });
    plugins.start();
    return plugins;
  };
  return { open, warnings };
}

t.test("a configuration is in force from the next load", async (t) => {
  const { open, warnings } = await setUp(t);
  const plugins = open();
  t.throws(() => plugins.load("openmetrics"), { code: "FORBIDDEN_OPERATION" });
  await plugins.configure("openmetrics", { secret: "first" });
  t.equal(plugins.openMetricsSecret(), undefined);
  plugins.load("openmetrics");
  t.throws(() => plugins.load("openmetrics"), { code: "FORBIDDEN_OPERATION" });
  t.equal(plugins.openMetricsSecret(), "first");
  await plugins.configure("openmetrics", { secret: "second" });
  t.equal(plugins.openMetricsSecret(), "first");
  await plugins.setAutoload("openmetrics", true);
  t.equal(open().openMetricsSecret(), "second");
  plugins.unload("openmetrics");
  t.equal(plugins.openMetricsSecret(), undefined);
  t.throws(() => plugins.unload("openmetrics"), {
    code: "FORBIDDEN_OPERATION",
  });
  t.same(warnings, []);
  await plugins.purge("openmetrics");
  t.equal(open().openMetricsSecret(), undefined);
  t.equal(warnings.length, 1, "it reports why it is not available");
});

t.test("plugins are controlled by the calls of existing clients", async (t) => {
  const { connect, lines } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const id = "openmetrics";
  const secret = "s3cr3t-of-metrics";
  t.match(await admin.request("plugin.get"), [
    { id, loaded: false, configurationSchema: { type: "object" } },
  ]);
  const configure = (configuration: unknown) =>
    admin.call("plugin.configure", { id, configuration });
  t.match(await configure({ secret }), { result: true });
  for (const wrong of [{}, { secret: 1 }, { secret, x: 1 }, null, []])
    t.match(await configure(wrong), { error: { code: 10 } });
  t.equal(await admin.request("plugin.load", { id }), true);
  const plugins = await admin.request("plugin.get");
  t.match(plugins, [{ id, loaded: true, configuration: { secret: /\*\*/ } }]);
  t.notMatch(JSON.stringify(plugins), secret);
  const [{ configuration }] = plugins as [{ configuration: object }];
  t.match(await configure(configuration), { result: true });
  t.equal(await admin.request("plugin.unload", { id }), true);
  t.match(await admin.call("plugin.load", { id: "other" }), {
    error: { code: 1 },
  });
  await admin.request("user.create", { email: "ada", password: "ada" });
  const ada = await (await connect()).signIn("ada", "ada");
  t.match(await ada.call("plugin.get"), { error: { code: 2 } });
  t.notMatch(lines.join(""), secret);
});
