import t from "tap";
import {
  addKey,
  hasKey,
  removeKey,
  takesKeys,
} from "../src/create-vm/authorized-keys.js";
import { keyInputError, partsOf, sshKeysOf } from "../src/session/ssh-keys.js";

const alice = {
  title: "laptop",
  key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB3R alice@example.org",
};
const bob = { title: "bob", key: "ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB bob: #1" };

t.test("a key is added to an empty configuration, and removed", async (t) => {
  const config = addKey("", alice);
  t.equal(config, `#cloud-config\nssh_authorized_keys:\n  - ${alice.key}\n`);
  t.ok(hasKey(config, alice));
  t.equal(addKey(config, alice), config, "it is added once");
  t.equal(removeKey(config, alice), "");
});

t.test("a list of keys that exists is used, as it is indented", async (t) => {
  const config =
    "#cloud-config\nssh_authorized_keys:\n- ssh-rsa AAAAother x\nusers: []\n";
  const both = addKey(config, alice);
  t.equal(
    both,
    `#cloud-config\nssh_authorized_keys:\n- ${alice.key}\n- ssh-rsa AAAAother x\nusers: []\n`,
  );
  t.equal(removeKey(both, alice), config);
  t.equal(
    addKey("#cloud-config\nssh_authorized_keys: []\n", alice),
    `#cloud-config\nssh_authorized_keys:\n  - ${alice.key}\n`,
  );
});

t.test("everything else of a configuration stays", async (t) => {
  const config = "#cloud-config\nhostname: {name}\n";
  const changed = addKey(config, alice);
  t.ok(changed.startsWith(config));
  t.equal(removeKey(changed, alice), config);
});

t.test("a comment that YAML gives a meaning is quoted", async (t) => {
  t.match(addKey("", bob), `  - ${JSON.stringify(bob.key)}\n`);
  t.ok(hasKey(addKey("", bob), bob));
});

t.test("scripts take no keys", async (t) => {
  const script = "#!/bin/sh\necho\n";
  t.notOk(takesKeys(script));
  t.equal(addKey(script, alice), script);
  t.ok(takesKeys(" \n"));
});

t.test("inputErrors of typed keys", async (t) => {
  t.equal(keyInputError(" "), "required");
  t.equal(keyInputError("-----BEGIN OPENSSH PRIVATE KEY-----\nb3"), "private");
  t.equal(keyInputError(`${alice.key}\n${bob.key}`), "line");
  t.equal(keyInputError("AAAAC3NzaC1lZDI1NTE5AAAAIB3R"), "format");
  t.equal(keyInputError(`${alice.key}\n`), undefined);
});

t.test("keys of the preferences, what is not a key is left out", async (t) => {
  const preferences = {
    sshKeys: [alice, { title: "x", key: "no key" }, null, { title: 1 }],
  };
  t.same(sshKeysOf({ preferences }), [alice]);
  t.same(sshKeysOf({ preferences: { sshKeys: "x" } }), []);
  t.same(partsOf(bob), {
    type: "ssh-rsa",
    encoded: "AAAAB3NzaC1yc2EAAAADAQAB",
    comment: "bob: #1",
  });
});
