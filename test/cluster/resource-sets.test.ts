import { setTimeout as pause } from "node:timers/promises";
import { findPostgres } from "@xo-server/store/conformance";
import t, { type Test } from "tap";
import { ApiSession, type Thing } from "../api-session.js";
import { StatusPage } from "../status-page.js";
import { PASSWORD, ServerGroup } from "./server-group.js";

t.comment("timeout=300000");

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";

const GiB = 2 ** 30;
/** VMs of the set. */
const LIMIT = 3;
/** VMs that a user requests of each of two servers at the same time. */
const REQUESTED = 4;
const TENANT = { email: "ada", password: "a long word" };

/** Two servers, and a user of a resource set who is signed in on both. */
async function setUp(t: Test) {
  const group = await ServerGroup.open(t, {
    bin: bin!,
    pool: ["--hosts", "2", "--vms", "4"],
  });
  const start = async (i: number) => {
    const { url } = await group.start(i);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    return url;
  };
  const first = await start(0);
  const admin = await ApiSession.open(t, first, "admin", PASSWORD);
  const one = async (filter: object) => (await admin.all(filter))[0] as Thing;
  const name_label = "Other install media";
  const template = (await one({ type: "VM-template", name_label })).id;
  const sr = (await one({ type: "SR", shared: true, content_type: "user" })).id;
  const network = (await one({ type: "network" })).id;
  const ipPool = await admin.request("ipPool.create", {
    name: "tenants",
    networks: [network],
    addresses: ["192.0.2.1-192.0.2.14"],
  });
  const set = (await admin.request("resourceSet.create", {
    name: "ada's",
    subjects: [await admin.request("user.create", TENANT)],
    objects: [template, sr, network],
    ipPools: [ipPool],
    limits: { vms: LIMIT, cpus: 2 * LIMIT, memory: LIMIT * GiB },
  })) as { id: string };
  // The second server knows all that is there when it starts.
  const urls = [first, await start(1)];
  const { email, password } = TENANT;
  const users = await Promise.all(
    urls.map((url) => ApiSession.open(t, url, email, password)),
  );
  const create = (user: ApiSession, CPUs = 1) =>
    user.call("vm.create", {
      name_label: "tenant",
      template,
      CPUs,
      memoryMax: GiB / 4,
      VDIs: [{ SR: sr, size: GiB }],
      VIFs: [{ network }],
      resourceSet: set.id,
    });
  return { admin, users: users as [ApiSession, ApiSession], create, set };
}

t.test(
  "limits of a resource set hold over two servers",
  { skip },
  async (t) => {
    const { admin, users, create, set } = await setUp(t);
    const ofSet = { type: "VM", resourceSet: set.id };
    const created: string[] = [];

    await t.test("VMs made on both at the same time", async (t) => {
      const answers = await Promise.all(
        users.flatMap((user) =>
          Array.from({ length: REQUESTED }, () => create(user)),
        ),
      );
      const refused = answers.flatMap(({ error }) => error?.code ?? []);
      created.push(
        ...answers.flatMap(({ result }) => (result as string) ?? []),
      );
      t.equal(created.length, LIMIT);
      t.same(new Set(refused), new Set([24]), "the others: not enough left");
      t.equal((await admin.all(ofSet)).length, LIMIT);
    });

    await t.test("no address is assigned twice", async (t) => {
      const vifs = await admin.all({ type: "VIF" });
      const addresses = vifs.flatMap(({ $VM, allowedIpv4Addresses: some }) =>
        created.includes(String($VM)) ? (some as string[]) : [],
      );
      t.equal(addresses.length, LIMIT);
      t.equal(new Set(addresses).size, LIMIT, addresses.join());
    });

    await t.test("what one has grown is not left on the other", async (t) => {
      const [id, other] = created as [string, string];
      // Rights reach the other server within a second.
      for (const user of users)
        for (const vm of [id, other])
          while ((await user.rest("GET", `/vms/${vm}`)).status !== 200)
            await pause(50);
      // 3 of 6 are used; by two servers at once, one of them is refused.
      const grown = await Promise.all([
        users[0].call("vm.set", { id, CPUs: 3, cpusMax: 3 }),
        users[1].call("vm.set", { id: other, CPUs: 3, cpusMax: 3 }),
      ]);
      const codes = grown.map(({ error }) => error?.code ?? 0);
      t.same(codes.toSorted(), [0, 24], JSON.stringify(grown));
    });

    await t.test("what is deleted on one is left on the other", async (t) => {
      t.ok(await users[0].request("vm.delete", { id: created[2] }));
      const { result, error } = await create(users[1]);
      t.type(result, "string", error?.message ?? "created");
      t.equal((await create(users[0])).error?.code, 24, "and used again");
    });
  },
);
