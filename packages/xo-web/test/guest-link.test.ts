import t from "tap";
import { toGuestLink } from "../src/details/vm/guest-link.js";

t.test("a link names the address that the guest reports", async (t) => {
  t.equal(toGuestLink("ssh", "192.0.2.7"), "ssh://192.0.2.7");
  t.equal(toGuestLink("ssh", "2001:db8::7"), "ssh://[2001:db8::7]");
  t.equal(
    toGuestLink("rdp", "192.0.2.7"),
    "rdp://full%20address=s:192.0.2.7:3389",
  );
});

t.test("an invalid IP address has no link", async (t) => {
  for (const address of [
    undefined,
    "",
    "192.0.2.256",
    "192.0.2.7.",
    "192.0.2.7@evil.example",
    "-oProxyCommand=x",
    "evil.example",
    "192.0.2.7:3389&alternate%20shell=s:cmd",
    "2001:db8::7]/x",
    "fe80::1%eth0",
    "::1 x",
  ])
    t.equal(toGuestLink("ssh", address), undefined, String(address));
});
