import { ApiClient } from "./api-client.js";
import type { MeasuredServer } from "./measured-server.js";

/** Users who may read about half of all objects, by one kind of right. */
interface PartiallyAuthorizedUsers {
  readonly name: string;
  readonly token: string;
}

const PASSWORD = "correct horse battery";

interface Listed {
  readonly id: string;
  readonly type: string;
  readonly tags?: readonly string[];
  readonly $pool?: string;
}

/** Makes one user for each kind: a selector over ids, one over tags, a pool, explicit ids. */
export async function createPartiallyAuthorizedUsers(
  server: MeasuredServer,
): Promise<PartiallyAuthorizedUsers[]> {
  const admin = await server.connect();
  await admin.call("all.unsubscribe", {});
  const all = (await admin.call("xo.getAllObjects", {})) as Record<
    string,
    Listed
  >;
  const objects = Object.values(all);
  const pools = [...new Set(objects.map(({ $pool = "" }) => $pool))];
  const users = [
    await withSelector(admin, "half of the ids", "id:/^[0-7]/"),
    await withSelector(admin, "one of two pools", `$pool:${pools[0]}`),
    await withAcls(admin, "a pool's ACL", [pools[0]!]),
    await withAcls(admin, "explicit ids", everySecond(objects)),
  ];
  admin.close();
  return Promise.all(
    users.map(async ({ name, email }) => ({
      name,
      token: await signIn(server, email),
    })),
  );
}

/** VMs, SRs, hosts, networks: what belongs to them comes along. */
function everySecond(objects: readonly Listed[]): string[] {
  const owners = new Set(["VM", "VM-template", "VM-snapshot", "SR", "network"]);
  return objects
    .filter(({ type }) => owners.has(type))
    .filter((_, index) => index % 2 === 0)
    .map(({ id }) => id);
}

async function withSelector(admin: ApiClient, name: string, selector: string) {
  const user = await createUser(admin, name);
  const roleId = await admin.call("role.create", { name });
  await admin.call("privilege.create", {
    roleId,
    effect: "allow",
    resource: "*",
    action: "read",
    selector,
  });
  await admin.call("role.addToUser", { id: roleId, userId: user.id });
  return user;
}

async function withAcls(
  admin: ApiClient,
  name: string,
  objects: readonly string[],
) {
  const user = await createUser(admin, name);
  for (let from = 0; from < objects.length; from += 100)
    await Promise.all(
      objects.slice(from, from + 100).map((object) => {
        const subject = user.id;
        return admin.call("acl.add", { subject, object, action: "viewer" });
      }),
    );
  return user;
}

async function createUser(admin: ApiClient, name: string) {
  const email = `${name.replaceAll(/\W+/g, "-")}@bench`;
  const id = await admin.call("user.create", { email, password: PASSWORD });
  return { name, email, id: id as string };
}

async function signIn(server: MeasuredServer, email: string): Promise<string> {
  const client = await ApiClient.open(server.url);
  await client.call("session.signIn", { username: email, password: PASSWORD });
  const token = await client.call("token.create", {});
  client.close();
  return token as string;
}
