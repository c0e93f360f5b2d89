import t from "tap";
import type { Thing } from "./api-session.js";
import { startControlled } from "./controlled-pools.js";

t.comment("timeout=300000");

t.test("VIFs of a resource set get addresses of its IP pools", async (t) => {
  const { api } = await startControlled(t, { hosts: 2, vms: 4 });
  const one = async (filter: object) => (await api.all(filter))[0] as Thing;
  const name_label = "Other install media";
  const template = (await one({ type: "VM-template", name_label })).id;
  const network = (await one({ type: "network" })).id;
  const { id: ada, session } = await api.signUp(t, "ada");
  const pool = (await api.request("ipPool.create", {
    name: "web",
    networks: [network],
    addresses: ["10.0.0.10-10.0.0.11"],
  })) as string;
  const set = (await api.request("resourceSet.create", {
    name: "team",
    subjects: [ada],
    objects: [template, network],
    ipPools: [pool],
    limits: { [`ipPool:${pool}`]: 2 },
  })) as { id: string };
  const create = (VIFs: object[]) =>
    session.call("vm.create", {
      name_label: "tenant",
      template,
      VDIs: [],
      VIFs,
      resourceSet: set.id,
    });
  const vifsOf = (vm: string) => api.all({ type: "VIF", $VM: vm });

  const id = (await create([{ network }])).result as string;
  t.match(await vifsOf(id), [
    { allowedIpv4Addresses: ["10.0.0.10"], lockingMode: "locked" },
  ]);
  t.match(
    await create([{ network, allowedIpv4Addresses: ["10.0.0.99"] }]),
    { error: { code: 2 } },
    "others need a right on the network",
  );
  t.type(await session.request("vif.create", { vm: id, network }), "string");
  const addresses = (await vifsOf(id)).flatMap(
    (vif) => vif["allowedIpv4Addresses"] as string[],
  );
  t.same(addresses.toSorted(), ["10.0.0.10", "10.0.0.11"]);
  t.match(await create([{ network }]), {
    error: { code: 24, data: { resourceType: `ipPool:${pool}` } },
  });
  t.match(await session.call("vif.create", { vm: id, network }), {
    error: { code: 24 },
  });
  t.match(await session.request("ipPool.getAll"), [{ total: 2, used: 2 }]);
  t.match(await session.request("resourceSet.get", { id: set.id }), {
    limits: { [`ipPool:${pool}`]: { total: 2, usage: 2, available: 0 } },
  });
  t.match(await session.call("ipPool.delete", { id: pool }), {
    error: { code: 2 },
  });
  t.equal(await session.request("vm.delete", { id }), true);
  t.type((await create([{ network }])).result, "string", "they are free");
});
