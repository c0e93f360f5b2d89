import t from "tap";
import { HOST, NETWORK, OTHER_VM, VM, tinyPool } from "./support/tiny-pool.js";

t.test("every class has listings, look-ups, getters and setters", async (t) => {
  const { client } = await tinyPool(t);
  t.same(await client.call("VM.get_all"), [VM, OTHER_VM]);
  t.match(await client.call("VM.get_all_records"), {
    [VM]: { name_label: "one", VIFs: ["OpaqueRef:vif"] },
    [OTHER_VM]: { name_label: "two", VIFs: [] },
  });
  t.equal(await client.call("VM.get_by_uuid", "uuid-vm-1"), VM);
  t.same(await client.call("VM.get_by_name_label", "two"), [OTHER_VM]);
  t.same(await client.call("VM.get_by_name_label", "none"), []);
  await client.call("VM.set_name_label", VM, "renamed");
  t.equal(await client.call("VM.get_name_label", VM), "renamed");
  t.match(await client.call("VM.get_record", VM), { name_label: "renamed" });
  t.match(await client.call("VM.get_all_records"), {
    [VM]: { name_label: "renamed" },
    [OTHER_VM]: { name_label: "two" },
  });
});

t.test(
  "a missing object is HANDLE_INVALID or UUID_INVALID, by class",
  async (t) => {
    const { client } = await tinyPool(t);
    await t.rejects(client.call("VM.get_record", HOST), {
      message: `HANDLE_INVALID VM ${HOST}`,
    });
    await t.rejects(client.call("VM.get_by_uuid", "x"), {
      message: "UUID_INVALID VM x",
    });
  },
);

t.test(
  "fields that only the pool writes have no setter, removed messages report so",
  async (t) => {
    const { client } = await tinyPool(t);
    await t.rejects(client.call("VM.set_power_state", VM, "Running"), {
      message: "MESSAGE_METHOD_UNKNOWN VM.set_power_state",
    });
    await t.rejects(client.call("VMPP.get_all"), {
      message: "MESSAGE_REMOVED",
    });
  },
);

t.test("maps and sets grow and shrink", async (t) => {
  const { client } = await tinyPool(t);
  await client.call("network.add_to_other_config", NETWORK, "k", "v");
  await t.rejects(
    client.call("network.add_to_other_config", NETWORK, "k", "w"),
    {
      message: `MAP_DUPLICATE_KEY network other_config ${NETWORK} k`,
    },
  );
  await client.call("network.remove_from_other_config", NETWORK, "none");
  await client.call("network.add_tags", NETWORK, "a");
  await client.call("network.add_tags", NETWORK, "a");
  t.same(await client.call("network.get_tags", NETWORK), ["a"]);
  await client.call("network.remove_tags", NETWORK, "a");
  t.same(await client.call("network.get_tags", NETWORK), []);
});

t.test("the database refuses empty keys and control characters", async (t) => {
  const { client } = await tinyPool(t);
  await t.rejects(client.call("VM.set_other_config", VM, { "": "x" }), {
    message: "INTERNAL_ERROR Db_exn.Empty_key_in_map",
  });
  await t.rejects(client.call("VM.set_name_label", VM, "a\u0001"), {
    message: "INTERNAL_ERROR Db_exn.Invalid_value",
  });
});

t.test("get_all_where understands and, or, not and parentheses", async (t) => {
  const { client } = await tinyPool(t);
  const where = (expression: string) =>
    client.call("VM.get_all_where", expression);
  t.same(await where('field "name__label" = "one"'), [VM]);
  t.same(await where('not (field "name__label" = "one")'), [OTHER_VM]);
  t.same(await where('field "is_a_template" = "false" and true or false'), [
    VM,
    OTHER_VM,
  ]);
  await t.rejects(where("field nonsense"), {
    message: /^INVALID_VALUE field nonsense/,
  });
  // As a real XAPI: the database's names, not those of records.
  for (const name of ["name_label", "nosuch", "name__description__x"])
    await t.rejects(where(`field "${name}" = "x"`), {
      message: `INTERNAL_ERROR missing field ${name} `,
    });
  t.same(await where('field "memory__static_max" = "4294967296"'), [VM]);
});

t.test("parameters of the wrong type are refused as in OCaml", async (t) => {
  const { client } = await tinyPool(t);
  const rejects = (call: readonly [string, ...unknown[]], text: string) =>
    t.rejects(client.call(...call), {
      message: `INTERNAL_ERROR Failure("${text}")`,
    });
  await rejects(
    ["VM.set_tags", VM, "a"],
    "Expecting Rpc.Enum, but found 'S(a)'",
  );
  await rejects(
    ["VM.set_blocked_operations", VM, { bogus: "x" }],
    "Unknown tag/contents",
  );
  await rejects(
    ["Bond.create", NETWORK, [], "", "bogus", {}],
    "Unmarshalling error in bond-mode",
  );
});

t.test("a session may be requested as an object", async (t) => {
  const { client } = await tinyPool(t);
  t.match(await client.call("session.get_record", client.session), {
    auth_user_name: "root",
    originator: "test",
    this_host: HOST,
  });
});
